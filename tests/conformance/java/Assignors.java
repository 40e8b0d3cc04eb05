// Answers what the assignors of Kafka 3.9 decide, those of the clients and those of the group coordinator.
//
// A question is a case of `kdrill assign` on a line; the answer a line {"assignment":{member:[[topic,partition],..]},
// "transferring":[[topic,partition],..]} or {"error":".."}.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.common.*;
import org.apache.kafka.common.protocol.types.*;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.*;
import org.apache.kafka.coordinator.group.modern.TopicMetadata;

public class Assignors {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        String line;
        while ((line = questions.readLine()) != null) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                JsonNode question = JSON.readTree(line);
                String assignor = question.get("assignor").asText();
                if (assignor.equals("uniform") || assignor.equals("server-range")) atCoordinator(question, answer);
                else atClient(question, answer);
            } catch (Exception failure) {
                answer.removeAll();
                answer.put("error", String.valueOf(failure));
                failure.printStackTrace();
            }
            answers.println(JSON.writeValueAsString(answer));
        }
    }

    static void write(ObjectNode answer, Map<String, List<TopicPartition>> assigned) {
        ObjectNode members = answer.putObject("assignment");
        assigned.forEach((member, partitions) -> {
            ArrayNode list = members.putArray(member);
            partitions.forEach(p -> list.addArray().add(p.topic()).add(p.partition()));
        });
    }

    static List<TopicPartition> owned(JsonNode member) {
        List<TopicPartition> owned = new ArrayList<>();
        JsonNode told = member.path("owned");
        if (told.isArray()) told.forEach(p -> owned.add(new TopicPartition(p.get(0).asText(), p.get(1).asInt())));
        else told.fields().forEachRemaining(
            e -> e.getValue().forEach(p -> owned.add(new TopicPartition(e.getKey(), p.asInt()))));
        return owned;
    }

    static Optional<String> text(JsonNode member, String key) {
        return member.hasNonNull(key) ? Optional.of(member.get(key).asText()) : Optional.empty();
    }

    // ---- clients ----

    static AbstractPartitionAssignor clientAssignor(String name) {
        switch (name) {
            case "range": return new RangeAssignor();
            case "roundrobin": return new RoundRobinAssignor();
            case "sticky": return new StickyAssignor();
            default: return new CooperativeStickyAssignor();
        }
    }

    static void atClient(JsonNode question, ObjectNode answer) {
        String name = question.get("assignor").asText();
        AbstractPartitionAssignor assignor = clientAssignor(name);
        List<PartitionInfo> partitions = partitions(question);
        Cluster cluster = new Cluster("c", Collections.emptyList(), partitions, Collections.emptySet(), Collections.emptySet());
        Map<String, Subscription> subscriptions = new HashMap<>();
        question.get("members").fields().forEachRemaining(
            e -> subscriptions.put(e.getKey(), subscription(name, e.getValue())));
        Map<String, List<TopicPartition>> assigned = new HashMap<>();
        assignor.assign(cluster, new ConsumerPartitionAssignor.GroupSubscription(subscriptions)).groupAssignment()
            .forEach((member, assignment) -> assigned.put(member, assignment.partitions()));
        write(answer, assigned);
        if (assignor instanceof AbstractStickyAssignor) {
            Map<TopicPartition, String> moving = ((AbstractStickyAssignor) assignor).partitionsTransferringOwnership();
            if (moving != null) {
                ArrayNode list = answer.putArray("transferring");
                moving.keySet().forEach(p -> list.addArray().add(p.topic()).add(p.partition()));
            }
        }
    }

    static List<PartitionInfo> partitions(JsonNode question) {
        List<PartitionInfo> partitions = new ArrayList<>();
        Map<String, Integer> brokers = new HashMap<>();
        question.get("topics").fields().forEachRemaining(e -> {
            for (int p = 0; p < e.getValue().asInt(); p++) {
                List<Node> replicas = new ArrayList<>();
                for (JsonNode told : question.path("racks").path(e.getKey()).path(p)) {
                    String rack = told.isNull() ? null : told.asText();
                    int id = brokers.computeIfAbsent(String.valueOf(rack), r -> brokers.size());
                    replicas.add(new Node(id, "h", 9092, rack));
                }
                if (replicas.isEmpty()) replicas.add(Node.noNode());
                Node[] nodes = replicas.toArray(new Node[0]);
                partitions.add(new PartitionInfo(e.getKey(), p, Node.noNode(), nodes, nodes));
            }
        });
        return partitions;
    }

    static Subscription subscription(String assignor, JsonNode member) {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(t -> topics.add(t.asText()));
        List<TopicPartition> owned = owned(member);
        int generation = member.path("generation").asInt(-1);
        int field = member.path("subscription_generation").asInt(generation);
        String form = member.path("user_data").asText("v1");
        ByteBuffer data = null;
        if (assignor.equals("sticky") && !form.equals("none")) {
            data = form.equals("v0") ? oldUserData(owned) : userData(new StickyAssignor(), owned, generation);
        } else if (assignor.equals("cooperative-sticky") && !form.equals("none")) {
            data = userData(new CooperativeStickyAssignor(), owned, generation);
        }
        Subscription subscription = new Subscription(topics, data, owned, field, text(member, "rack"));
        subscription.setGroupInstanceId(text(member, "instance_id"));
        return subscription;
    }

    static ByteBuffer userData(ConsumerPartitionAssignor assignor, List<TopicPartition> owned, int generation) {
        assignor.onAssignment(new ConsumerPartitionAssignor.Assignment(owned),
            new ConsumerGroupMetadata("g", generation, "m", Optional.empty()));
        return assignor.subscriptionUserData(Collections.emptySet());
    }

    // What the sticky assignor wrote before it wrote generations.
    static ByteBuffer oldUserData(List<TopicPartition> owned) {
        Schema topic = new Schema(new Field("topic", Type.STRING), new Field("partitions", new ArrayOf(Type.INT32)));
        Schema schema = new Schema(new Field("previous_assignment", new ArrayOf(topic)));
        List<Struct> topics = new ArrayList<>();
        for (TopicPartition partition : owned)
            topics.add(new Struct(topic).set("topic", partition.topic())
                .set("partitions", new Object[] {partition.partition()}));
        Struct data = new Struct(schema).set("previous_assignment", topics.toArray());
        ByteBuffer buffer = ByteBuffer.allocate(schema.sizeOf(data));
        schema.write(buffer, data);
        buffer.flip();
        return buffer;
    }

    // ---- group coordinator ----

    static Uuid topicId(JsonNode question, String topic) {
        JsonNode told = question.path("topic_ids").path(topic);
        if (told.isTextual()) return Uuid.fromString(told.asText());
        UUID made = UUID.nameUUIDFromBytes(topic.getBytes(StandardCharsets.UTF_8));
        return new Uuid(made.getMostSignificantBits(), made.getLeastSignificantBits());
    }

    static void atCoordinator(JsonNode question, ObjectNode answer) {
        Map<Uuid, TopicMetadata> topics = new HashMap<>();
        Map<Uuid, String> names = new HashMap<>();
        question.get("topics").fields().forEachRemaining(e -> {
            Uuid id = topicId(question, e.getKey());
            names.put(id, e.getKey());
            topics.put(id, new TopicMetadata(id, e.getKey(), e.getValue().asInt(), Collections.emptyMap()));
        });
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        Map<String, Integer> subscribers = new HashMap<>();
        question.get("members").fields().forEachRemaining(e -> {
            Set<Uuid> subscribed = new HashSet<>();
            for (JsonNode topic : e.getValue().get("topics")) {
                subscribers.merge(topic.asText(), 1, Integer::sum);
                subscribed.add(topicId(question, topic.asText()));
            }
            Map<Uuid, Set<Integer>> owned = new LinkedHashMap<>();
            for (TopicPartition partition : owned(e.getValue())) {
                Uuid id = topicId(question, partition.topic());
                names.put(id, partition.topic());
                owned.computeIfAbsent(id, k -> new LinkedHashSet<>()).add(partition.partition());
                owners.computeIfAbsent(id, k -> new HashMap<>()).put(partition.partition(), e.getKey());
            }
            members.put(e.getKey(), new MemberSubscriptionAndAssignmentImpl(text(e.getValue(), "rack"),
                text(e.getValue(), "instance_id"), subscribed, owned.isEmpty() ? Assignment.EMPTY : new Assignment(owned)));
        });
        boolean equal = subscribers.values().stream().allMatch(count -> count == members.size());
        if (question.hasNonNull("subscription_type"))
            equal = question.get("subscription_type").asText().equals("HOMOGENEOUS");
        GroupSpecImpl group = new GroupSpecImpl(
            members, equal ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS, owners);
        ConsumerGroupPartitionAssignor assignor = question.get("assignor").asText().equals("uniform")
            ? new UniformAssignor() : new org.apache.kafka.coordinator.group.assignor.RangeAssignor();
        Map<String, List<TopicPartition>> assigned = new HashMap<>();
        assignor.assign(group, new SubscribedTopicDescriberImpl(topics)).members().forEach((member, assignment) -> {
            List<TopicPartition> list = new ArrayList<>();
            assignment.partitions().forEach((id, ps) -> ps.forEach(p -> list.add(new TopicPartition(names.get(id), p))));
            assigned.put(member, list);
        });
        write(answer, assigned);
    }
}
