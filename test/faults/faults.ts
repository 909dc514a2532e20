/** Faults that tests cause in the nodes of a service, in its Redis, in its Postgres and in the network between them. */
import { Effect, Random } from "effect";
import type { Node, Service } from "./service.ts";

export interface Fault {
  readonly name: string;
  readonly begin: Effect.Effect<void>;
  /** Ends the fault, and waits until the failed part answers again. */
  readonly end: Effect.Effect<void>;
}

type Make = (service: Service, victims: ReadonlyArray<Node>) => Omit<Fault, "name">;

const each = (nodes: ReadonlyArray<Node>, act: (node: Node) => Effect.Effect<void>) =>
  Effect.forEach(nodes, act, { concurrency: "unbounded", discard: true });

const nodeKilled: Make = (_, victims) => ({
  begin: each(victims, ({ kill }) => kill),
  end: each(victims, ({ restart }) => restart()),
});

const nodeFrozen: Make = (_, victims) => ({
  begin: each(victims, ({ freeze }) => freeze),
  end: each(victims, ({ thaw }) => thaw),
});

const ofServer =
  (name: "postgres" | "redis", begin: "kill" | "freeze", end: "restart" | "thaw"): Make =>
  (service) => ({ begin: service[name][begin], end: service[name][end] });

const redisLosesItsData: Make = ({ redis }) => ({
  begin: Effect.andThen(redis.kill, redis.forget),
  end: redis.restart,
});

const ofLink =
  (to: "postgres" | "redis", begin: "cut" | "silence"): Make =>
  (_, victims) => ({
    begin: each(victims, ({ links }) => links[to][begin]),
    end: each(victims, ({ links }) => links[to].restore),
  });

/** For each fault by name, the function that makes it, and whether it strikes one node or all nodes. */
const makers: Readonly<Record<string, readonly [make: Make, strikes: "one" | "all"]>> = {
  "node killed": [nodeKilled, "one"],
  "node frozen": [nodeFrozen, "one"],
  "Redis killed": [ofServer("redis", "kill", "restart"), "all"],
  "Redis killed, its data lost": [redisLosesItsData, "all"],
  "Redis frozen": [ofServer("redis", "freeze", "thaw"), "all"],
  "Postgres killed": [ofServer("postgres", "kill", "restart"), "all"],
  "Postgres frozen": [ofServer("postgres", "freeze", "thaw"), "all"],
  "Redis cut off": [ofLink("redis", "cut"), "all"],
  "Redis cut off from a node": [ofLink("redis", "cut"), "one"],
  "Redis silent": [ofLink("redis", "silence"), "all"],
  "Redis silent to a node": [ofLink("redis", "silence"), "one"],
  "Postgres cut off": [ofLink("postgres", "cut"), "all"],
  "Postgres cut off from a node": [ofLink("postgres", "cut"), "one"],
  "Postgres silent": [ofLink("postgres", "silence"), "all"],
  "Postgres silent to a node": [ofLink("postgres", "silence"), "one"],
};

/** Returns every fault once, in random order. The victims of faults that strike one node are random. */
export const allFaults = Effect.fnUntraced(function* (service: Service) {
  const order = yield* Random.shuffle(Object.entries(makers));
  return yield* Effect.forEach(order, ([name, [make, strikes]]) =>
    Effect.map(Random.choice(service.nodes), (victim): Fault => {
      const victims = strikes === "one" ? [victim] : service.nodes;
      return { name, ...make(service, victims) };
    }),
  );
});
