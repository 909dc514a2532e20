/** What a peer is made of: the routes that all have in common, a store and a framework. */
import type { Key } from "./keys.ts";

/** A value that may be there at once, as those of an embedded database are. */
export type Eventual<A> = A | Promise<A>;

/** Goes on with a value as soon as it is there, without a turn of the event loop if it is. */
export const andThen = <A, B>(value: Eventual<A>, next: (value: A) => Eventual<B>): Eventual<B> =>
  // oxlint-disable-next-line promise/no-callback-in-promise -- it is the function of the promise's own `then`
  value instanceof Promise ? value.then(next) : next(value);

/** A request as a framework gives it. */
export interface PeerRequest {
  readonly authorization: string | undefined;
  readonly serviceVersion: string | undefined;
  readonly ip: string;
  /** The query, with an array for a name that is given more than once. */
  readonly query: Parameters;
  /** The JSON of the body. */
  readonly body: unknown;
}

type Parameters = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>;

/** What to answer with; the body as JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

export interface PeerRoute {
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  readonly answer: (request: PeerRequest) => Eventual<Answer>;
}

/** What a window has counted, and when it ends. */
interface Window {
  readonly count: number;
  readonly resetsAt: number;
}

/** The windows of a key after a request. */
export interface KeyWindows {
  readonly second: Window;
  readonly day: Window;
}

/** A link to write, with its audit entry. */
export interface LinkWrite {
  readonly pid: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly now: number;
  readonly chatId: string;
  readonly gameId: string;
}

export interface Store {
  readonly findKey: (token: string, now: number) => Eventual<Key | undefined>;
  /** Counts the request in all windows or in none; throws `tooMany` for a full one. */
  readonly admit: (key: Key, ip: string, now: number) => Eventual<KeyWindows>;
  readonly findGame: (pid: string, chatId: string) => Eventual<string | null | undefined>;
  readonly findGames: (pid: string, chatIds: ReadonlyArray<string>) => Eventual<ReadonlyMap<string, string>>;
  /** The newest link first. */
  readonly findChats: (pid: string, gameId: string) => Eventual<ReadonlyArray<string>>;
  /** Gives the game user that was replaced. */
  readonly setGame: (write: LinkWrite) => Eventual<string | null>;
  readonly close: () => Promise<void>;
}

/** Listens on a free port of 127.0.0.1. */
export type Serve = (
  routes: ReadonlyArray<PeerRoute>,
) => Promise<{ readonly port: number; readonly close: () => Promise<unknown> }>;

/** Opens a store, and fills a new one. */
export type OpenStore = (places: ReadonlyArray<string>, isNew: boolean) => Promise<Store>;
