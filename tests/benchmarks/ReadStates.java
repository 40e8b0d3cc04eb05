import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** Reads every partition's state four times, many requests under way, and prints the best of the last three in seconds. */
public class ReadStates {
    private static final int UNDER_WAY = 10_000;
    private static final int ROUNDS = 4;

    public static void main(String[] arguments) throws Exception {
        int topics = Integer.parseInt(arguments[1]);
        int partitions = Integer.parseInt(arguments[2]);
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(arguments[0], 60_000, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        connected.await();
        double best = Double.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            double seconds = read(client, topics, partitions);
            if (round > 0) {
                best = Math.min(best, seconds);
            }
        }
        client.close();
        System.out.println(best);
    }

    private static double read(ZooKeeper client, int topics, int partitions) throws Exception {
        Semaphore free = new Semaphore(UNDER_WAY);
        AtomicInteger failed = new AtomicInteger();
        AsyncCallback.DataCallback take = (code, path, context, data, stat) -> {
            if (code != KeeperException.Code.OK.intValue()) {
                failed.incrementAndGet();
            }
            free.release();
        };
        long began = System.nanoTime();
        for (int topic = 0; topic < topics; topic++) {
            String root = String.format("/brokers/topics/topic-%04d/partitions/", topic);
            for (int partition = 0; partition < partitions; partition++) {
                free.acquire();
                client.getData(root + partition + "/state", false, take, null);
            }
        }
        free.acquire(UNDER_WAY);
        if (failed.get() > 0) {
            throw new IllegalStateException(failed.get() + " reads failed");
        }
        return (System.nanoTime() - began) / 1e9;
    }
}
