import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.kafka.common.TopicPartition;
import scala.collection.mutable.ListBuffer;
import scala.runtime.AbstractFunction1;

/**
 * In which order a controller takes lost copies out of the ISRs: Kafka's own PartitionAndReplica in Scala's own
 * collections.
 *
 * A line in: copies as topic,partition,replica, separated by blanks. A line out: the same in the order of the set they
 * are put into, a colon, and the brokers in the order of groupBy over that.
 */
public class ScalaOrders {
    public static void main(String[] arguments) throws Exception {
        Class<?> type = Class.forName("kafka.controller.PartitionAndReplica");
        Constructor<?> constructor = type.getConstructors()[0];
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            ListBuffer<Object> copies = new ListBuffer<>();
            for (String copy : line.split(" ")) {
                String[] fields = copy.split(",");
                int partition = Integer.parseInt(fields[1]);
                int replica = Integer.parseInt(fields[2]);
                copies.$plus$eq(
                    constructor.getParameterCount() == 3
                        ? constructor.newInstance(fields[0], partition, replica)
                        : constructor.newInstance(new TopicPartition(fields[0], partition), replica));
            }
            scala.collection.immutable.Set<Object> set = copies.toSet();
            ListBuffer<Object> inSet = new ListBuffer<>();
            List<String> texts = new ArrayList<>();
            set.foreach(each(copy -> {
                inSet.$plus$eq(copy);
                texts.add(text(copy));
            }));
            List<String> brokers = new ArrayList<>();
            inSet.toList().groupBy(function(ScalaOrders::replica))
                .foreach(each(pair -> brokers.add(String.valueOf(pair._1()))));
            System.out.println(String.join(" ", texts) + ":" + String.join(" ", brokers));
        }
    }

    private static <T> AbstractFunction1<T, Object> each(Consumer<T> each) {
        return function(element -> {
            each.accept(element);
            return scala.runtime.BoxedUnit.UNIT;
        });
    }

    private static <T> AbstractFunction1<T, Object> function(Function<T, Object> function) {
        return new AbstractFunction1<T, Object>() {
            @Override
            public Object apply(T element) {
                return function.apply(element);
            }
        };
    }

    private static int replica(Object copy) {
        return (Integer) field(copy, "replica");
    }

    private static String text(Object copy) {
        return field(copy, "topic") + "," + field(copy, "partition") + "," + replica(copy);
    }

    private static Object field(Object copy, String name) {
        try {
            return copy.getClass().getMethod(name).invoke(copy);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }
}
