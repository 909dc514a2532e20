/**
 * What the primary process and its workers tell and ask each other.
 */
import type { AddressInfo } from "node:net";
import type { CacheAnswer, CacheCall } from "./cache_calls.ts";
import type { TurnNotice, TurnRequest } from "./write_turns.ts";

/** Where a dev platform is, with the secrets to ask it. */
export interface DevPlatformAccess {
  readonly baseUrl: string;
  readonly botToken: string;
  readonly chatSecret: string;
  readonly gameSecret: string;
}

/** What a worker has to know before it starts. */
export interface WorkerStart {
  /** Its number, from 1 on. The worker that replaces it has the same. */
  readonly id: number;
  /** Whether it is the one that loads the fixture. */
  readonly loadsFixture: boolean;
  /** The dev platform that all workers share; null with the live ones. */
  readonly devPlatform: DevPlatformAccess | null;
}

export type ToWorker =
  | { readonly type: "start"; readonly start: WorkerStart }
  /** The port is open. Follows `prepared`. */
  | { readonly type: "listening"; readonly address: AddressInfo }
  /** Comes with the socket, which the worker has to take. */
  | { readonly type: "connection"; readonly connection: number }
  | { readonly type: "turn"; readonly notice: TurnNotice }
  /** A signal of another worker. */
  | { readonly type: "signal"; readonly topic: string; readonly message: string }
  /** No balancer should send it anything more. */
  | { readonly type: "stop" }
  /** The port is closed, and the last connection was handed over. Follows `stop`. */
  | { readonly type: "closed" };

export type ToPrimary =
  /** It can serve as soon as it knows the address. */
  | { readonly type: "prepared" }
  | { readonly type: "ready"; readonly service: Service }
  | { readonly type: "turn"; readonly request: TurnRequest }
  /** A signal for the other workers. */
  | { readonly type: "signal"; readonly topic: string; readonly message: string }
  /** The connection is this worker's now. */
  | { readonly type: "taken"; readonly connection: number };

/** What all workers have in common. */
export interface Service {
  /** Identifies the deployment. */
  readonly deployment: string;
  /** Where the service listens. */
  readonly url: string;
}

/** The health of a worker, as `Readiness` has it. */
export interface Health {
  readonly failing: ReadonlyArray<string>;
  readonly degraded: ReadonlyArray<string>;
}

/** What can be asked, with the argument and the answer of each question. */
export interface Questions {
  /** Metrics in the text format of Prometheus: a worker's own, or those of all processes. */
  readonly metrics: { readonly argument: null; readonly answer: string };
  readonly health: { readonly argument: null; readonly answer: Health };
  /** Calls of what all workers share, which are carried out in their order. */
  readonly cache: {
    readonly argument: ReadonlyArray<CacheCall>;
    readonly answer: ReadonlyArray<CacheAnswer>;
  };
}
