/** The client: a method for each route of v2. */
import type { ChatId, GameId, RouteId, Routes, VerificationSession } from "./contract.ts";
import { AccountLinkError, type ErrorCode } from "./errors.ts";
import { type EventOptions, type FollowedEvent, followEvents, listLinks } from "./feed.ts";
import type { CallOptions, ClientOptions, WriteOptions } from "./options.ts";
import { makeUrls } from "./requests.ts";
import { type PollOptions, pollSession, waitForSession, watchSession } from "./session_reads.ts";
import { type Data, makeTransport, type Transport } from "./transport.ts";

type Parameters<Id extends RouteId> = Routes[Id]["parameters"];

/** The parameters of a route that a method does not take on their own, and the options of the call. */
type Reading<Id extends RouteId, Given extends string = never> = Omit<Parameters<Id>, Given> & CallOptions;
type Writing<Id extends RouteId, Given extends string = never> = Omit<Parameters<Id>, Given> & WriteOptions;

/** Links, from either side. With a guild-scoped key each of these needs its `guildId`, but for the lists of all. */
export interface Links {
  /** Every link, page by page; in the end the cursor of the events from which on the list is out of date. */
  (options?: CallOptions): AsyncGenerator<Data<"listLinks">["links"][number], string>;
  /** A page of all links. `GET /v2/links` */
  readonly list: (options?: Reading<"listLinks">) => Promise<Data<"listLinks">>;
  /** The game user of a chat user; null without a link. `GET /v2/chat` */
  readonly get: (chatId: ChatId, options?: Reading<"getChat", "chatId">) => Promise<Data<"getChat"> | null>;
  /** The game users of up to 50 chat users, one result for each, in order. `POST /v2/chat/bulk` */
  readonly getMany: (
    chatIds: ReadonlyArray<ChatId>,
    options?: Reading<"bulkChat", "chatIds">,
  ) => Promise<Data<"bulkChat">>;
  /** The chat users of a game user; null without one. `GET /v2/game` */
  readonly byGame: (
    gameId: GameId,
    options?: Reading<"getGame", "gameId">,
  ) => Promise<Data<"getGame"> | null>;
  /** The chat users of up to 50 game users, one result for each, in order. `POST /v2/game/bulk` */
  readonly byGameMany: (
    gameIds: ReadonlyArray<GameId>,
    options?: Reading<"bulkGame", "gameIds">,
  ) => Promise<Data<"bulkGame">>;
  /** Whether a chat user is linked, since when, and under which version. `GET /v2/verifications/chat` */
  readonly verification: (
    chatId: ChatId,
    options?: Reading<"getVerification", "chatId">,
  ) => Promise<Data<"getVerification">>;
  /** Links a chat user to a game user. `PATCH /v2/game` */
  readonly set: (
    chatId: ChatId,
    gameId: GameId,
    options?: Writing<"patchGame", "chatId" | "gameId">,
  ) => Promise<Data<"patchGame">>;
  /** Moves a link to another chat user. `PATCH /v2/chat` */
  readonly move: (
    oldChatId: ChatId,
    newChatId: ChatId,
    options?: Writing<"patchChat", "oldChatId" | "newChatId">,
  ) => Promise<Data<"patchChat">>;
  /** Removes the link of a chat user. `DELETE /v2/game` */
  readonly delete: (chatId: ChatId, options?: Writing<"deleteGame", "chatId">) => Promise<Data<"deleteGame">>;
  /** Deletes all data of the key's scope. `DELETE /v2/data` */
  readonly deleteAll: (options: Writing<"deleteData">) => Promise<Data<"deleteData">>;
}

/** Accounts that may belong to one person, and what moderators said. Premium. */
export interface Alts {
  /** Those of a chat user, a game user or an address. `GET /v2/alts` */
  readonly find: (options: Reading<"getAlts">) => Promise<Data<"getAlts">>;
  /** Those of up to 10 game users, one result for each, in order. `POST /v2/alts/bulk` */
  readonly findMany: (
    gameIds: ReadonlyArray<GameId>,
    options?: Reading<"bulkAlts", "gameIds">,
  ) => Promise<Data<"bulkAlts">>;
  /** Says whether two chat users are one person. `PUT /v2/alts/reviews` */
  readonly review: (
    chatId: ChatId,
    otherChatId: ChatId,
    verdict: Parameters<"putAltReview">["verdict"],
    options?: Writing<"putAltReview", "chatId" | "otherChatId" | "verdict">,
  ) => Promise<Data<"putAltReview">["review"]>;
  /** What was said of a chat user. `GET /v2/alts/reviews` */
  readonly reviews: (
    chatId: ChatId,
    options?: Reading<"getAltReviews", "chatId">,
  ) => Promise<Data<"getAltReviews">["reviews"]>;
  /** Takes back what was said of two chat users. `DELETE /v2/alts/reviews` */
  readonly deleteReview: (
    chatId: ChatId,
    otherChatId: ChatId,
    options?: Writing<"deleteAltReview", "chatId" | "otherChatId">,
  ) => Promise<Data<"deleteAltReview">>;
}

/** What changes in the key's scope. */
export interface Events {
  /**
   * Every event from a cursor on, each with the cursor after it, for as long as it is read: over restarts, limits and
   * the ends of streams. Without a cursor, from now on. It rejects with `CONFLICT` when the cursor is older than what
   * the service keeps. `GET /v2/events/stream`
   */
  (options?: EventOptions): AsyncGenerator<FollowedEvent, void>;
  /** A page of events. `GET /v2/events` */
  readonly read: (options?: Reading<"getEvents">) => Promise<Data<"getEvents">>;
}

/** Keys that got into wrong hands. These need no key. */
export interface Keys {
  /** Reports a key, which is revoked at once. `POST /v2/keys/leaked` */
  readonly reportLeaked: (key: string, options?: CallOptions) => Promise<Data<"reportLeakedKey">>;
}

/** Verification sessions. */
export interface Sessions {
  /** Creates a session. Send its user to its `url`. `POST /v2/sessions` */
  readonly create: (options: Writing<"createSession">) => Promise<VerificationSession>;
  /** The session as it is; null if the key has none such. `GET /v2/sessions/{sid}` */
  readonly get: (sid: string, options?: PollOptions) => Promise<VerificationSession | null>;
  /** Reads a session by long poll, at each change, until it is over. The last one is final. */
  readonly poll: (sid: string, options?: PollOptions) => AsyncGenerator<VerificationSession, void>;
  /** Reads a session by stream, as it is and at each change, until it is over. `GET /v2/sessions/{sid}/stream` */
  readonly watch: (sid: string, options?: CallOptions) => AsyncGenerator<VerificationSession, void>;
  /** Waits by long poll until a session is completed, failed or cancelled; `SESSION_EXPIRED` when its time passes. */
  readonly wait: (sid: string, options?: PollOptions) => Promise<VerificationSession>;
  /** Cancels a session. `DELETE /v2/sessions/{sid}` */
  readonly cancel: (sid: string, options?: WriteOptions) => Promise<VerificationSession>;
  /** An address that leads a browser into the session. `GET /v2/sessions/{sid}/redirect` */
  readonly redirectUrl: (sid: string) => string;
}

/** A client of one service, with one key. */
export interface Client {
  readonly links: Links;
  readonly alts: Alts;
  readonly events: Events;
  readonly keys: Keys;
  readonly sessions: Sessions;
}

/**
 * Makes a client. It opens nothing, so there is nothing to close.
 *
 * @throws TypeError when the key has characters that no key has
 *
 * @example
 * ```ts
 * import { createClient } from "@accountlink/client";
 *
 * const client = createClient({ url: "https://links.example", key: process.env.ACCOUNTLINK_KEY });
 * client.sessions.redirectUrl("vs_1"); // "https://links.example/v2/sessions/vs_1/redirect"
 * ```
 */
export const createClient = (options: ClientOptions): Client => {
  const transport = makeTransport(options);
  const urlOf = makeUrls(options);
  const { call } = transport;
  return {
    links: Object.assign((rest?: CallOptions) => listLinks(transport, rest), linkMethods(call)),
    alts: {
      find: (rest) => call("getAlts", { ...rest }),
      findMany: (gameIds, rest) => call("bulkAlts", { ...rest, gameIds }),
      review: async (chatId, otherChatId, verdict, rest) =>
        (await call("putAltReview", { ...rest, chatId, otherChatId, verdict })).review,
      reviews: async (chatId, rest) => (await call("getAltReviews", { ...rest, chatId })).reviews,
      deleteReview: (chatId, otherChatId, rest) => call("deleteAltReview", { ...rest, chatId, otherChatId }),
    },
    events: Object.assign((rest?: EventOptions) => followEvents(transport, rest), {
      read: (rest?: Reading<"getEvents">) => call("getEvents", { ...rest }),
    }),
    keys: {
      reportLeaked: (key, rest) => call("reportLeakedKey", { ...rest, key }),
    },
    sessions: {
      create: (rest) => call("createSession", { ...rest }),
      get: (sid, rest) => orNull("SESSION_NOT_FOUND", call("getSession", { ...rest, sid })),
      poll: (sid, rest) => pollSession(transport, sid, rest),
      watch: (sid, rest) => watchSession(transport, sid, rest),
      wait: (sid, rest) => waitForSession(transport, sid, rest),
      cancel: (sid, rest) => call("cancelSession", { ...rest, sid }),
      redirectUrl: (sid) => urlOf("redirectSession", { sid }),
    },
  };
};

const linkMethods = (call: Transport["call"]): Methods<Links> => ({
  list: (rest) => call("listLinks", { ...rest }),
  get: (chatId, rest) => orNull("LINK_NOT_FOUND", call("getChat", { ...rest, chatId })),
  getMany: (chatIds, rest) => call("bulkChat", { ...rest, chatIds }),
  byGame: (gameId, rest) => orNull("LINK_NOT_FOUND", call("getGame", { ...rest, gameId })),
  byGameMany: (gameIds, rest) => call("bulkGame", { ...rest, gameIds }),
  verification: (chatId, rest) => call("getVerification", { ...rest, chatId }),
  set: (chatId, gameId, rest) => call("patchGame", { ...rest, chatId, gameId }),
  move: (oldChatId, newChatId, rest) => call("patchChat", { ...rest, oldChatId, newChatId }),
  delete: (chatId, rest) => call("deleteGame", { ...rest, chatId }),
  deleteAll: (rest) => call("deleteData", { ...rest }),
});

/** Without what calls it. */
type Methods<Group> = { readonly [Name in keyof Group]: Group[Name] };

const orNull = <A>(missing: ErrorCode, found: Promise<A>): Promise<A | null> =>
  found.catch((error: unknown) => {
    if (error instanceof AccountLinkError && error.code === missing) return null;
    throw error;
  });
