// Answers what the ZooKeeper consumers' own assignors (kafka.consumer.PartitionAssignor, 0.8.2 to 1.1) decide.
//
// A question is a line of words between tabs: the strategy, the group, the consumer ids between commas, then znodes as
// path=text. Every consumer decides for itself, as it does in life. The answer is a line of thread|topic|partition
// between tabs, or "!" and why somebody failed.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.StringJoiner;
import kafka.common.TopicAndPartition;
import kafka.consumer.AssignmentContext;
import kafka.consumer.PartitionAssignor;
import kafka.consumer.PartitionAssignor$;
import kafka.utils.ZKStringSerializer$;
import org.I0Itec.zkclient.InMemoryConnection;
import org.I0Itec.zkclient.ZkClient;
import scala.Tuple2;

public class ZooKeeperAssignors {
    public static void main(String[] arguments) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        String line;
        while ((line = questions.readLine()) != null) {
            String answer;
            try {
                answer = answer(line.split("\t"));
            } catch (InvocationTargetException failure) {
                answer = "!" + String.valueOf(failure.getCause()).replace('\n', ' ');
            } catch (RuntimeException failure) {
                answer = "!" + String.valueOf(failure).replace('\n', ' ');
            }
            answers.println(answer);
        }
        System.exit(0);
    }

    static String answer(String[] question) throws Exception {
        ZkClient zookeeper = new ZkClient(new InMemoryConnection(), 5000, ZKStringSerializer$.MODULE$);
        for (int i = 3; i < question.length; i++) {
            int sign = question[i].indexOf('=');
            String path = question[i].substring(0, sign);
            String parent = path.substring(0, path.lastIndexOf('/'));
            if (!zookeeper.exists(parent)) zookeeper.createPersistent(parent, true);
            zookeeper.createPersistent(path, question[i].substring(sign + 1));
        }
        PartitionAssignor assignor = PartitionAssignor$.MODULE$.createInstance(question[0]);
        StringJoiner owned = new StringJoiner("\t");
        for (String consumer : question[2].split(",")) {
            scala.collection.Iterator<?> decided = decide(assignor, question[1], consumer, zookeeper);
            while (decided.hasNext()) {
                Tuple2<?, ?> pair = (Tuple2<?, ?>) decided.next();
                TopicAndPartition partition = (TopicAndPartition) pair._1();
                owned.add(pair._2() + "|" + partition.topic() + "|" + partition.partition());
            }
        }
        zookeeper.close();
        return owned.toString();
    }

    // 0.8 hands over the client and gets the consumer's own partitions; 1.1 wraps it, and gets those of all by consumer.
    static scala.collection.Iterator<?> decide(PartitionAssignor assignor, String group, String consumer, ZkClient zookeeper)
            throws Exception {
        Constructor<?> maker = AssignmentContext.class.getConstructors()[0];
        Object client = zookeeper;
        if (maker.getParameterTypes()[3] != ZkClient.class)
            client = maker.getParameterTypes()[3].getConstructors()[0].newInstance(zookeeper, null, false);
        Object context = maker.newInstance(group, consumer, true, client);
        Method assign = PartitionAssignor.class.getMethod("assign", AssignmentContext.class);
        Object decided = assign.invoke(assignor, context);
        if (!(decided instanceof scala.collection.Map)) {
            Object all = decided;
            decided = all.getClass().getMethod("getAndMaybePut", Object.class).invoke(all, consumer);
        }
        return ((scala.collection.Map<?, ?>) decided).iterator();
    }
}
