/** Runs one schedule, from the start of its nodes to the checks. */
import { Chance } from "@accountlink/testing/simulation";
import { Cause, Effect, Exit } from "effect";
import { ask, Records } from "./behaviour.ts";
import { brokenPromises } from "./checks.ts";
import { Client } from "./client.ts";
import { behaviours, readFeed } from "./clients.ts";
import { Deployment } from "./deployment.ts";
import { begin } from "./faults.ts";
import { undelivered } from "./feed_checks.ts";
import type { ClientPlan, Plan } from "./plan.ts";
import type { Broken } from "./promise.ts";
import { findStatus } from "./requests.ts";
import { wrongMembers } from "./role_checks.ts";

export interface Run {
  readonly broken: ReadonlyArray<Broken>;
  /** The events of the run as lines of text. */
  readonly story: ReadonlyArray<string>;
  readonly steps: number;
  readonly fingerprint: number;
  readonly counts: ReadonlyMap<string, number>;
}

/** A limit for the simulated time of a run, in milliseconds, which no run should reach. */
const longestRun = 1_000_000;

const fewestSteps = 200;

/** The time until every node knows how many nodes there are, in milliseconds. Limits depend on this number. */
const acquaintance = 2_100;

/** Time for nodes to recover after the faults, in milliseconds. */
const recovery = 2_500;

/**
 * The longest wait for webhooks and roles at the end of a run, in milliseconds. It is long enough for a node to take
 * over the webhooks and role plans of a dead node, and to repeat failed requests twice.
 */
const deliveryTime = 400_000;

/**
 * How long a run waits for reminders, in milliseconds. It is long enough for all of them. If a node dies between the
 * claim of a reminder and its message, the member gets none.
 */
const reminderTime = 20_000;

/** @param isTold whether to write the story */
export const runPlan = (plan: Plan, isTold = false): Run => {
  const deployment = new Deployment(plan.seed, plan.nodes, isTold);
  const records = new Records(deployment);
  const { world, outside, story, counts } = deployment;
  const exits: Array<Exit.Exit<void>> = [];
  outside.start(happenings(plan, records), (exit) => void exits.push(exit));
  const broken = () => {
    try {
      world.run(() => exits.length > 0, longestRun);
      for (const exit of exits) if (Exit.isFailure(exit)) throw Cause.squash(exit.cause);
      return brokenPromises(records);
    } catch (error) {
      return [{ promise: "Every run ends", how: String(error) }];
    }
  };
  return { broken: broken(), story, steps: world.steps, fingerprint: world.fingerprint, counts };
};

const happenings = Effect.fnUntraced(function* (plan: Plan, records: Records) {
  const { deployment } = records;
  const untilAllAreUp = Effect.gen(function* () {
    while (deployment.nodes.some(({ isUp }) => !isUp)) yield* Effect.sleep(10);
  });
  yield* untilAllAreUp;
  if (plan.clients.some(({ kind }) => kind === "limited")) yield* Effect.sleep(acquaintance);
  const faults = plan.faults.map((fault) =>
    Effect.delay(
      Effect.sync(() => begin(deployment, fault)),
      fault.at,
    ).pipe(Effect.andThen(Effect.sleep(fault.lasts))),
  );
  const clients = plan.clients.map((client, index) => live(client, index, records));
  yield* Effect.all([...faults, ...clients], { concurrency: "unbounded", discard: true });
  yield* untilAllAreUp;
  yield* Effect.sleep(recovery);
  yield* readAll(records);
  // A short schedule waits until it has enough steps, so that the background work of the nodes runs too.
  while (deployment.world.steps < fewestSteps) yield* Effect.sleep(500);
  const until = deployment.now + deliveryTime;
  const untilReminded = deployment.now + reminderTime;
  const isWaiting = () =>
    undelivered(records).length > 0 ||
    wrongMembers(records).length > 0 ||
    (deployment.now < untilReminded && deployment.guild.isReminding);
  while (deployment.now < until && isWaiting()) yield* Effect.sleep(500);
  if (deployment.guild.messages.length > 0) deployment.count("reminders", deployment.guild.messages.length);
});

const live = (plan: ClientPlan, index: number, records: Records): Effect.Effect<void> => {
  const client = new Client(records.deployment, `client ${index + 1}`, records.history);
  const act = behaviours[plan.kind](client, records);
  return Effect.forEach(
    plan.steps,
    ({ pause, seed }) => {
      const chance = new Chance(seed);
      return Effect.delay(act(chance, chance.below(records.deployment.nodes.length)), pause);
    },
    { discard: true },
  );
};

/** Reads every link from every node, and the whole feed. */
const readAll = Effect.fnUntraced(function* (records: Records) {
  const { deployment } = records;
  const reader = new Client(deployment, "client 0", records.history);
  for (const node of deployment.nodes.keys()) {
    for (const chatId of deployment.chatIds) yield* ask(reader, records, node, findStatus(chatId));
  }
  records.readers.push([]);
  for (const pages of records.readers) yield* readFeed(reader, records, pages, 0, "limit=100");
});
