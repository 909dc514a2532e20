/** Faults that tests cause in the nodes of a service, in its storage, in its Redis and in the network between them. */
import { Effect, Random } from "effect";
import type { Node, Service } from "./service.ts";

interface Fault {
  readonly name: string;
  /** In milliseconds. */
  readonly lasts: number;
  readonly begin: Effect.Effect<void>;
  /** Ends the fault, and waits until the failed part answers again. */
  readonly end: Effect.Effect<void>;
}

type Make = (service: Service, victims: ReadonlyArray<Node>) => Pick<Fault, "begin" | "end">;

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
  (name: "storage" | "redis", begin: "kill" | "freeze", end: "restart" | "thaw"): Make =>
  (service) => ({ begin: service[name][begin], end: service[name][end] });

const redisLosesItsData: Make = ({ redis }) => ({
  begin: Effect.andThen(redis.kill, redis.forget),
  end: redis.restart,
});

const ofLink =
  (to: "storage" | "redis", begin: "cut" | "silence"): Make =>
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
  "Storage killed": [ofServer("storage", "kill", "restart"), "all"],
  "Storage frozen": [ofServer("storage", "freeze", "thaw"), "all"],
  "Redis cut off": [ofLink("redis", "cut"), "all"],
  "Redis cut off from a node": [ofLink("redis", "cut"), "one"],
  "Redis silent": [ofLink("redis", "silence"), "all"],
  "Redis silent to a node": [ofLink("redis", "silence"), "one"],
  "Storage cut off": [ofLink("storage", "cut"), "all"],
  "Storage cut off from a node": [ofLink("storage", "cut"), "one"],
  "Storage silent": [ofLink("storage", "silence"), "all"],
  "Storage silent to a node": [ofLink("storage", "silence"), "one"],
};

/** Returns every fault once, in random order. The victims of faults that strike one node are random. */
export const allFaults = Effect.fnUntraced(function* (service: Service) {
  const order = yield* Random.shuffle(Object.entries(makers));
  return yield* Effect.forEach(order, ([name, [make, strikes]]) =>
    Effect.gen(function* () {
      const victims = strikes === "one" ? [yield* Random.choice(service.nodes)] : service.nodes;
      // A storage that restarts has to be missed by requests that wait, and by those that gave up.
      const lasts = name === "Storage killed" ? 8_000 : yield* Random.nextIntBetween(300, 3_000);
      return { name, lasts, ...make(service, victims) } satisfies Fault;
    }),
  );
});
