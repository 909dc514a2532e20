/**
 * What can go wrong around three nodes, a Redis and a Postgres.
 */
import { Effect, Random } from "effect";
import type { Node, Service } from "./service.ts";

/** One thing that goes wrong, and is put right again. */
export interface Fault {
  readonly name: string;
  readonly begin: Effect.Effect<void>;
  /** Is done when what was away answers again. */
  readonly end: Effect.Effect<void>;
  /** What becomes of Redis's counts: they stay in reach of every node, are out of reach of some, or are lost to all. */
  readonly counts: "in reach" | "out of reach" | "lost";
  /** The nodes that it strikes. */
  readonly victims: ReadonlyArray<Node>;
}

type Make = (service: Service, victims: ReadonlyArray<Node>) => Omit<Fault, "name" | "victims">;

const each = (nodes: ReadonlyArray<Node>, act: (node: Node) => Effect.Effect<void>) =>
  Effect.forEach(nodes, act, { concurrency: "unbounded", discard: true });

const ofNode =
  (begin: "kill" | "freeze", end: "restart" | "thaw"): Make =>
  (_, victims) => ({
    begin: each(victims, (node) => node[begin]),
    end: each(victims, (node) => node[end]),
    counts: "in reach",
  });

const ofServer =
  (
    name: "postgres" | "redis",
    begin: "kill" | "freeze",
    end: "restart" | "thaw",
    counts: Fault["counts"],
  ): Make =>
  (service) => ({ begin: service[name][begin], end: service[name][end], counts });

const redisLosesItsData: Make = ({ redis }) => ({
  begin: Effect.andThen(redis.kill, redis.forget),
  end: redis.restart,
  counts: "lost",
});

const ofLink =
  (to: "postgres" | "redis", begin: "cut" | "silence"): Make =>
  (_, victims) => ({
    begin: each(victims, ({ links }) => links[to][begin]),
    end: each(victims, ({ links }) => links[to].restore),
    counts: to === "redis" ? "out of reach" : "in reach",
  });

/** By its name: how it is made, and whether it strikes one node or all. */
const makers: Readonly<Record<string, readonly [make: Make, strikes: "one" | "all"]>> = {
  "node killed": [ofNode("kill", "restart"), "one"],
  "node frozen": [ofNode("freeze", "thaw"), "one"],
  "Redis killed": [ofServer("redis", "kill", "restart", "out of reach"), "all"],
  "Redis killed, its data lost": [redisLosesItsData, "all"],
  "Redis frozen": [ofServer("redis", "freeze", "thaw", "out of reach"), "all"],
  "Postgres killed": [ofServer("postgres", "kill", "restart", "in reach"), "all"],
  "Postgres frozen": [ofServer("postgres", "freeze", "thaw", "in reach"), "all"],
  "Redis cut off": [ofLink("redis", "cut"), "all"],
  "Redis cut off from a node": [ofLink("redis", "cut"), "one"],
  "Redis silent": [ofLink("redis", "silence"), "all"],
  "Redis silent to a node": [ofLink("redis", "silence"), "one"],
  "Postgres cut off": [ofLink("postgres", "cut"), "all"],
  "Postgres cut off from a node": [ofLink("postgres", "cut"), "one"],
  "Postgres silent": [ofLink("postgres", "silence"), "all"],
  "Postgres silent to a node": [ofLink("postgres", "silence"), "one"],
};

/** The names of all kinds. */
export const kinds: ReadonlyArray<string> = Object.keys(makers);

/** Every kind once, in random order, each with a random victim. */
export const allFaults = Effect.fnUntraced(function* (service: Service) {
  const order = yield* Random.shuffle(Object.entries(makers));
  return yield* Effect.forEach(order, ([name, [make, strikes]]) =>
    Effect.map(Random.choice(service.nodes), (victim): Fault => {
      const victims = strikes === "one" ? [victim] : service.nodes;
      return { name, victims, ...make(service, victims) };
    }),
  );
});
