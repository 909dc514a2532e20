/** The faults that can happen in a simulation: the kinds, how a fault begins, and how it ends. */
import type { Chance, Server } from "@accountlink/testing/simulation";
import type { Deployment } from "./deployment.ts";

/** A fault of one node, or of Postgres or Redis, which all nodes share. */
export interface Fault {
  readonly kind: keyof typeof kinds;
  /** When the fault begins, in milliseconds after the clients have started. */
  readonly at: number;
  /** The duration of the fault in milliseconds. */
  readonly lasts: number;
  readonly node: number;
  /** Severity from 0 to 1. */
  readonly extent: number;
}

interface Kind {
  /** Longest duration in milliseconds. */
  readonly longest: number;
  readonly begin: (deployment: Deployment, fault: Fault) => void;
  readonly end: (deployment: Deployment, fault: Fault) => void;
}

/** The maximum age of the state to which a fault restores Redis, in milliseconds. */
const oldestState = 5_000;

const nodeOf = ({ nodes }: Deployment, { node }: Fault) => {
  const chosen = nodes[node];
  if (chosen === undefined) throw new Error(`Cannot find node ${node}`);
  return chosen;
};

/** A kind of fault that sets a field of a server to an unusual value. */
const withValue = <Field extends "isDown" | "slowness" | "loss">(
  serverOf: (deployment: Deployment) => Server,
  longest: number,
  field: Field,
  valueAt: (extent: number) => Server[Field],
  usual: Server[Field],
): Kind => ({
  longest,
  begin: (deployment, { extent }) => {
    serverOf(deployment)[field] = valueAt(extent);
  },
  end: (deployment) => {
    serverOf(deployment)[field] = usual;
  },
});

const postgres = (deployment: Deployment): Server => deployment.postgres;
const redis = (deployment: Deployment): Server => deployment.redis;

const down = (serverOf: (deployment: Deployment) => Server): Kind =>
  withValue(serverOf, 5_000, "isDown", () => true, false);

const frozen = (serverOf: (deployment: Deployment) => Server): Kind => ({
  longest: 5_000,
  begin: (deployment) => serverOf(deployment).freeze(),
  end: (deployment) => serverOf(deployment).thaw(),
});

const slow = (serverOf: (deployment: Deployment) => Server): Kind =>
  withValue(serverOf, 6_000, "slowness", (extent) => extent * 1_500, 0);

const lossy = (serverOf: (deployment: Deployment) => Server): Kind =>
  withValue(serverOf, 6_000, "loss", (extent) => extent * 0.5, 0);

const cutOff = (serverOf: (deployment: Deployment) => Server): Kind => ({
  longest: 6_000,
  begin: (deployment, fault) => void serverOf(deployment).cutOff.add(nodeOf(deployment, fault)),
  end: (deployment, fault) => void serverOf(deployment).cutOff.delete(nodeOf(deployment, fault)),
});

const kinds = {
  "node killed": {
    longest: 4_000,
    begin: (deployment, fault) => nodeOf(deployment, fault).kill(),
    end: (deployment, { node }) => deployment.restart(node),
  },
  // Nothing but what the node stored before tells that the nickname is the plan's.
  "node killed when it has set a nickname": {
    longest: 8_000,
    begin: (deployment, fault) => {
      deployment.guild.fatalFor = nodeOf(deployment, fault);
    },
    end: (deployment, { node }) => {
      deployment.guild.fatalFor = null;
      deployment.restart(node);
    },
  },
  "node stopped": {
    longest: 6_000,
    begin: (deployment, fault) => nodeOf(deployment, fault).stop(),
    end: (deployment, { node }) => {
      deployment.nodes[node]?.kill();
      deployment.restart(node);
    },
  },
  "node frozen": {
    longest: 8_000,
    begin: (deployment, fault) => nodeOf(deployment, fault).freeze(),
    end: (deployment, fault) => nodeOf(deployment, fault).thaw(),
  },
  "node's machine suspended": {
    longest: 8_000,
    begin: (deployment, fault) => nodeOf(deployment, fault).freeze(true),
    end: (deployment, fault) => nodeOf(deployment, fault).thaw(),
  },
  "node's clock set": {
    longest: 8_000,
    begin: (deployment, fault) =>
      nodeOf(deployment, fault).setClock(Math.round((fault.extent - 0.5) * 8_000)),
    end: () => {},
  },
  "node's clock drifts": {
    longest: 8_000,
    begin: (deployment, fault) => nodeOf(deployment, fault).setRate((fault.extent - 0.5) * 0.1),
    end: (deployment, fault) => nodeOf(deployment, fault).setRate(0),
  },
  "node cut off from Postgres": cutOff(postgres),
  "node cut off from Redis": cutOff(redis),
  "Postgres down": down(postgres),
  "Postgres frozen": frozen(postgres),
  "Postgres slow": slow(postgres),
  "messages of Postgres lost": lossy(postgres),
  "Redis down": down(redis),
  "Redis frozen": frozen(redis),
  "Redis slow": slow(redis),
  "messages of Redis lost": lossy(redis),
  "signals lost": {
    longest: 12_000,
    begin: ({ redis: server }) => {
      server.losesSignals = true;
    },
    end: ({ redis: server }) => {
      server.losesSignals = false;
    },
  },
  "Redis restarted without its data": {
    longest: 0,
    begin: ({ redis: server }) => server.empty(),
    end: () => {},
  },
  "Redis restored from an older state": {
    longest: 0,
    begin: ({ redis: server, now }, { extent }) => server.restore(now - extent * oldestState),
    end: () => {},
  },
} as const satisfies Readonly<Record<string, Kind>>;

export const faultKinds = Object.keys(kinds) as ReadonlyArray<Fault["kind"]>;

/** Makes a fault with a random begin before `time`, in milliseconds, and a random duration, node and severity. */
export const someFault = (chance: Chance, kind: Fault["kind"], nodes: number, time: number): Fault => ({
  kind,
  // Some faults begin right at the start, before anything is counted or cached.
  at: chance.happens(0.3) ? chance.below(20) : chance.below(time),
  lasts: Math.floor(chance.fraction() ** 2 * kinds[kind].longest),
  node: chance.below(nodes),
  extent: chance.fraction(),
});

/** Starts a fault. A fault of a node does not happen if the node is down. */
export const begin = (deployment: Deployment, fault: Fault): void => {
  const { kind, node, lasts } = fault;
  const concernsNode = kind.startsWith("node");
  const before = deployment.nodes[node];
  if (concernsNode && before?.isUp !== true) return;
  const { begin: start, end } = kinds[kind];
  const named = () => (concernsNode ? `${kind}: node ${node + 1}` : kind);
  deployment.tell("fault", named);
  deployment.count(kind);
  deployment.faults.push({ kind, node, from: deployment.now, to: deployment.now + lasts });
  start(deployment, fault);
  deployment.world.after(lasts, deployment.outside, () => {
    // The fault of a process ends with the process, so the process that replaced it does not have the fault.
    const isOver = concernsNode && kind !== "node killed" && deployment.nodes[node] !== before;
    if (isOver) return;
    deployment.tell("fault", () => `over: ${named()}`);
    end(deployment, fault);
  });
};
