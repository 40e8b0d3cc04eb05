import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import kafka.api.FetchRequestBuilder;
import kafka.api.PartitionOffsetRequestInfo;
import kafka.common.TopicAndPartition;
import kafka.javaapi.OffsetRequest;
import kafka.javaapi.TopicMetadataRequest;
import kafka.javaapi.consumer.SimpleConsumer;

/**
 * A SimpleConsumer for each partition, which finds the leader itself, again after every failure, and keeps its offset
 * itself: HOST:PORT,… TOPIC PARTITIONS. Prints PARTITION VALUE, and on standard error what failed.
 */
class Simple {
    private static final String CLIENT = "simple";
    private static final int PATIENCE_MS = 5_000, BUFFER = 64 * 1024, FETCH = 100_000, PAUSE_MS = 100;

    private final String[] brokers;
    private final String topic;
    private final int partition;
    private long offset = -1;

    private Simple(String[] brokers, String topic, int partition) {
        this.brokers = brokers;
        this.topic = topic;
        this.partition = partition;
    }

    public static void main(String[] words) {
        for (int number = 0; number < Integer.parseInt(words[2]); number++) {
            Simple one = new Simple(words[0].split(","), words[1], number);
            new Thread(one::run).start();
        }
    }

    private void run() {
        for (;;) {
            SimpleConsumer leader = null;
            try {
                leader = findLeader();
                offset = offset < 0 ? earliest(leader) : offset;
                while (true) {
                    fetch(leader);
                }
            } catch (Exception failure) {
                System.err.println(partition + ": " + failure);
            } finally {
                if (leader != null) {
                    leader.close();
                }
            }
            pause();
        }
    }

    private SimpleConsumer findLeader() {
        for (String broker : brokers) {
            SimpleConsumer asked = connect(broker.split(":")[0], Integer.parseInt(broker.split(":")[1]));
            try {
                for (var told : asked.send(new TopicMetadataRequest(List.of(topic))).topicsMetadata()) {
                    for (var each : told.partitionsMetadata()) {
                        if (each.partitionId() == partition && each.leader() != null) {
                            return connect(each.leader().host(), each.leader().port());
                        }
                    }
                }
            } catch (Exception gone) {
                System.err.println(partition + ": " + broker + ": " + gone);
            } finally {
                asked.close();
            }
        }
        throw new IllegalStateException("no leader");
    }

    private static SimpleConsumer connect(String host, int port) {
        return new SimpleConsumer(host, port, PATIENCE_MS, BUFFER, CLIENT);
    }

    private long earliest(SimpleConsumer leader) {
        var asked = Map.of(
            new TopicAndPartition(topic, partition),
            new PartitionOffsetRequestInfo(kafka.api.OffsetRequest.EarliestTime(), 1));
        var told = leader.getOffsetsBefore(new OffsetRequest(asked, kafka.api.OffsetRequest.CurrentVersion(), CLIENT));
        check(told.errorCode(topic, partition));
        return told.offsets(topic, partition)[0];
    }

    private void fetch(SimpleConsumer leader) {
        var request = new FetchRequestBuilder().clientId(CLIENT).addFetch(topic, partition, offset, FETCH).build();
        var told = leader.fetch(request);
        check(told.errorCode(topic, partition));
        boolean isEmpty = true;
        for (var each : told.messageSet(topic, partition)) {
            if (each.offset() < offset) {  // a compressed set begins before what was asked for
                continue;
            }
            ByteBuffer value = each.message().payload();
            byte[] bytes = new byte[value.remaining()];
            value.get(bytes);
            synchronized (System.out) {
                System.out.println(partition + " " + new String(bytes));
                System.out.flush();
            }
            offset = each.nextOffset();
            isEmpty = false;
        }
        if (isEmpty) {
            pause();
        }
    }

    private static void check(short error) {
        if (error != 0) {
            throw new IllegalStateException("error " + error);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }
}
