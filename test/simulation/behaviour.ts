/** What all clients share: the records of a run, and how they ask. */
import type { Chance } from "@accountlink/testing/simulation";
import { Effect } from "effect";
import type { Client, Sent } from "./client.ts";
import type { Deployment, Place, Reach } from "./deployment.ts";
import type { Operation as Noted } from "./linearizability.ts";
import type { Request } from "./requests.ts";

/** A request about links, with its attempts. */
export interface Operation {
  readonly client: string;
  readonly request: Request;
  readonly sent: Array<Sent>;
}

/** A write about the erased user, with its attempts. */
export interface ErasedWrite {
  readonly options: { readonly body: object; readonly idempotencyKey: string };
  readonly sent: Array<Sent>;
}

/** A confirmation of a proven account, which may have made a link. */
export interface Proof {
  readonly chatId: string;
  readonly place: Place;
  readonly gameId: string;
  /** False if the account was known from another place. */
  readonly isOwn: boolean;
  readonly sent: Sent;
  /** The latest time at which it may have taken effect. */
  readonly until: number;
}

/** The accounts that a page offered to a user who had proven the chat account. */
export interface Offer {
  readonly chatId: string;
  readonly place: Place;
  readonly gameIds: ReadonlyArray<string>;
  readonly sent: Sent;
}

/** What members of the team asked for, and what the answers say about values that they change. */
export interface TeamRecords {
  readonly answers: Array<{ readonly member: string; readonly sent: Sent }>;
  readonly changes: Array<{ readonly member: string; readonly reach: Reach; readonly sent: Sent }>;
  readonly notes: Array<{ readonly register: string; readonly operation: Noted }>;
}

/** The records of a run: clients write them, and the checks read them. */
export class Records {
  readonly deployment: Deployment;
  /** Finished requests, in the order in which they finished. */
  readonly history: Array<Sent> = [];
  readonly operations: Array<Operation> = [];
  /** For each reader of the feed, the pages that it has read. */
  readonly readers: Array<Array<Sent>> = [];
  readonly erasures: { readonly writes: Array<ErasedWrite>; readonly erased: Array<Sent> } = {
    writes: [],
    erased: [],
  };
  readonly proofs: Array<Proof> = [];
  readonly offers: Array<Offer> = [];
  /** Writes that left a chat user at the place `elsewhere` without the account that was proven there. */
  readonly removals: Array<{ readonly chatId: string; readonly sent: Sent }> = [];
  readonly team: TeamRecords = { answers: [], changes: [], notes: [] };
  readonly key: string;
  readonly keyElsewhere: string;
  readonly limitedKey: string;

  constructor(deployment: Deployment) {
    this.deployment = deployment;
    this.key = deployment.newKey({});
    this.keyElsewhere = deployment.newKey({}, "elsewhere");
    this.limitedKey = deployment.newKey({ limits: { perWindow: 1_000, daily: dailyLimit } });
  }
}

/** The daily request limit of `limitedKey`. */
export const dailyLimit = 6;

/** Creates the step function of one client. */
export type Behaviour = (
  client: Client,
  records: Records,
) => (chance: Chance, node: number) => Effect.Effect<void>;

/** Sends a request about links once. */
export const ask = (client: Client, { key, operations }: Records, node: number, request: Request) =>
  Effect.suspend(() => {
    const operation: Operation = { client: client.name, request, sent: [] };
    operations.push(operation);
    return Effect.map(
      client.send(node, request.line, optionsOf(request, key)),
      (sent) => void operation.sent.push(sent),
    );
  });

export const optionsOf = ({ body }: Request, key: string) => (body === undefined ? { key } : { key, body });

export const dataOf = ({ outcome }: Sent): Readonly<Record<string, unknown>> | null =>
  outcome.kind === "answered" && outcome.answer.status < 300 ? (outcome.answer.body["data"] ?? {}) : null;
