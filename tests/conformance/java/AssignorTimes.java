// Measures the assignors of Kafka 3.9 on large groups: CPU time of the calling thread, the best of several.
//
// Arguments: form (same | lastone | halves), assignor, topics, partitions of each, members, times, phases between commas.
// Phases: initial, nochange, leave (the member in the middle), join. Prints a line for each: the phase, nanoseconds, and
// a checksum of the owners by topic, partition and place of the member's id, so that answers can be compared.

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.common.*;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.*;
import org.apache.kafka.coordinator.group.modern.TopicMetadata;

public class AssignorTimes {
    static List<String> topics = new ArrayList<>();
    static int partitions;
    static String assignor;

    public static void main(String[] a) {
        assignor = a[1];
        partitions = Integer.parseInt(a[3]);
        int members = Integer.parseInt(a[4]), times = Integer.parseInt(a[5]);
        for (int i = 0; i < Integer.parseInt(a[2]); i++) topics.add(named("t", i, Integer.parseInt(a[2])));
        Map<String, List<String>> group = new LinkedHashMap<>();
        for (int i = 0; i < members; i++) {
            List<String> told = topics;
            int half = topics.size() / 2;
            if (a[0].equals("lastone") && i == members - 1) told = topics.subList(0, 1);
            if (a[0].equals("halves")) told = i % 4 == 0 ? topics.subList(0, half) : topics.subList(half, topics.size());
            group.put(named("c", i, members), told);
        }
        Map<String, List<TopicPartition>> before = prepared(group, Collections.emptyMap()).get().assigned;
        for (String phase : a[6].split(",")) {
            Map<String, List<String>> now = new LinkedHashMap<>(group);
            if (phase.equals("leave")) now.remove(named("c", members / 2, members));
            if (phase.equals("join")) now.put("zz-new", group.values().iterator().next());
            Supplier<Run> assign = prepared(now, phase.equals("initial") ? Collections.emptyMap() : before);
            long best = Long.MAX_VALUE, checksum = 0;
            for (int i = 0; i < times; i++) {
                Run run = assign.get();
                best = Math.min(best, run.nanos);
                if (i == 0) checksum = checksum(now, run.assigned);
            }
            System.out.println(phase + " " + best + " " + checksum);
        }
    }

    static String named(String start, int number, int count) {
        return start + String.format("%0" + Integer.toString(count).length() + "d", number);
    }

    static class Run {
        long nanos;
        Map<String, List<TopicPartition>> assigned = new HashMap<>();
    }

    static Supplier<Run> prepared(Map<String, List<String>> group, Map<String, List<TopicPartition>> owned) {
        return assignor.equals("uniform") ? atCoordinator(group, owned) : atClient(group, owned);
    }

    static long cpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    static Supplier<Run> atClient(Map<String, List<String>> group, Map<String, List<TopicPartition>> owned) {
        Node[] none = new Node[] {Node.noNode()};
        Map<String, List<PartitionInfo>> metadata = new HashMap<>();
        for (String topic : topics) {
            List<PartitionInfo> list = new ArrayList<>();
            for (int p = 0; p < partitions; p++) list.add(new PartitionInfo(topic, p, Node.noNode(), none, none));
            metadata.put(topic, list);
        }
        Map<String, Subscription> subscriptions = new HashMap<>();
        group.forEach((member, told) -> {
            List<TopicPartition> own = owned.getOrDefault(member, Collections.emptyList());
            ByteBuffer data = null;
            if (!own.isEmpty()) {
                ConsumerPartitionAssignor writer = client();
                writer.onAssignment(new ConsumerPartitionAssignor.Assignment(own),
                    new ConsumerGroupMetadata("g", 1, member, Optional.empty()));
                data = writer.subscriptionUserData(Collections.emptySet());
            }
            subscriptions.put(member, new Subscription(told, data, own, own.isEmpty() ? -1 : 1, Optional.empty()));
        });
        return () -> {
            subscriptions.values().forEach(s -> { if (s.userData() != null) s.userData().rewind(); });
            AbstractPartitionAssignor client = client();
            Run run = new Run();
            long start = cpu();
            run.assigned = client.assignPartitions(metadata, subscriptions);
            run.nanos = cpu() - start;
            return run;
        };
    }

    static AbstractPartitionAssignor client() {
        switch (assignor) {
            case "range": return new RangeAssignor();
            case "roundrobin": return new RoundRobinAssignor();
            case "sticky": return new StickyAssignor();
            default: return new CooperativeStickyAssignor();
        }
    }

    static Uuid idOf(String topic) {
        UUID made = UUID.nameUUIDFromBytes(topic.getBytes());
        return new Uuid(made.getMostSignificantBits(), made.getLeastSignificantBits());
    }

    static Supplier<Run> atCoordinator(Map<String, List<String>> group, Map<String, List<TopicPartition>> owned) {
        Map<Uuid, TopicMetadata> metadata = new HashMap<>();
        Map<String, Uuid> ids = new HashMap<>();
        Map<Uuid, String> names = new HashMap<>();
        for (String topic : topics) {
            Uuid id = idOf(topic);
            ids.put(topic, id);
            names.put(id, topic);
            metadata.put(id, new TopicMetadata(id, topic, partitions, Collections.emptyMap()));
        }
        Map<List<String>, Set<Uuid>> sets = new IdentityHashMap<>();
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        group.forEach((member, told) -> {
            Set<Uuid> subscribed = sets.computeIfAbsent(told, t -> {
                Set<Uuid> set = new HashSet<>();
                t.forEach(topic -> set.add(ids.get(topic)));
                return set;
            });
            Map<Uuid, Set<Integer>> own = new LinkedHashMap<>();
            for (TopicPartition p : owned.getOrDefault(member, Collections.emptyList())) {
                own.computeIfAbsent(ids.get(p.topic()), k -> new LinkedHashSet<>()).add(p.partition());
                owners.computeIfAbsent(ids.get(p.topic()), k -> new HashMap<>()).put(p.partition(), member);
            }
            members.put(member, new MemberSubscriptionAndAssignmentImpl(
                Optional.empty(), Optional.empty(), subscribed, new Assignment(own)));
        });
        SubscriptionType type = sets.size() == 1 ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        GroupSpecImpl spec = new GroupSpecImpl(members, type, owners);
        SubscribedTopicDescriberImpl describer = new SubscribedTopicDescriberImpl(metadata);
        return () -> {
            Run run = new Run();
            long start = cpu();
            GroupAssignment assigned = new UniformAssignor().assign(spec, describer);
            run.nanos = cpu() - start;
            assigned.members().forEach((member, assignment) -> {
                List<TopicPartition> list = new ArrayList<>();
                new TreeMap<>(named(assignment, names)).forEach(
                    (topic, numbers) -> numbers.forEach(p -> list.add(new TopicPartition(topic, p))));
                run.assigned.put(member, list);
            });
            return run;
        };
    }

    static Map<String, Set<Integer>> named(MemberAssignment assignment, Map<Uuid, String> names) {
        Map<String, Set<Integer>> named = new HashMap<>();
        assignment.partitions().forEach((id, numbers) -> named.put(names.get(id), new TreeSet<>(numbers)));
        return named;
    }

    // Over owners by topic and partition: the place of the member among all ids and one, 0 for nobody.
    static long checksum(Map<String, List<String>> group, Map<String, List<TopicPartition>> assigned) {
        Map<String, Integer> places = new HashMap<>();
        for (String topic : topics) places.put(topic, places.size());
        int[] owners = new int[topics.size() * partitions];
        int place = 0;
        for (String member : new TreeSet<>(group.keySet())) {
            place++;
            for (TopicPartition p : assigned.get(member)) owners[places.get(p.topic()) * partitions + p.partition()] = place;
        }
        long sum = 0;
        for (int owner : owners) sum = sum * 31 + owner;
        return sum;
    }
}
