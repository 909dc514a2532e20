/**
 * What the primary process and its workers tell and ask each other.
 */
import type { AddressInfo } from "node:net";

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
  /** No balancer should send it anything more. */
  | { readonly type: "stop" }
  /** The port is closed, and the last connection was handed over. Follows `stop`. */
  | { readonly type: "closed" };

export type ToPrimary =
  /** It can serve as soon as it knows the address. */
  | { readonly type: "prepared" }
  | { readonly type: "ready"; readonly service: Service }
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

/** The answers to questions, by what is asked. */
export interface Answers {
  /** Metrics in the text format of Prometheus: a worker's own, or those of all processes. */
  readonly metrics: string;
  readonly health: Health;
}
