import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kafka.consumer.Consumer;
import kafka.consumer.ConsumerConfig;
import kafka.consumer.KafkaStream;
import kafka.message.MessageAndMetadata;

/** The high-level consumer with a thread for each stream: ZOOKEEPER GROUP TOPIC THREADS. Prints THREAD VALUE. */
class Streams {
    public static void main(String[] words) throws Exception {
        Properties properties = new Properties();
        properties.put("zookeeper.connect", words[0]);
        properties.put("group.id", words[1]);
        properties.put("zookeeper.session.timeout.ms", "6000");
        properties.put("auto.commit.interval.ms", "200");
        properties.put("auto.offset.reset", "smallest");
        Map<String, Integer> wanted = new HashMap<>();
        wanted.put(words[2], Integer.parseInt(words[3]));
        List<KafkaStream<byte[], byte[]>> streams = Consumer
            .createJavaConsumerConnector(new ConsumerConfig(properties))
            .createMessageStreams(wanted).get(words[2]);
        for (int number = 0; number < streams.size(); number++) {
            int thread = number;
            new Thread(() -> {
                for (MessageAndMetadata<byte[], byte[]> message : streams.get(thread)) {
                    synchronized (System.out) {
                        System.out.println(thread + " " + new String(message.message()));
                        System.out.flush();
                    }
                }
            }).start();
        }
    }
}
