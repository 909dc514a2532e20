/** The client: a method for each route of v2. */
import { orNull } from "./answers.ts";
import type { ChatId, GameId, GuildId, RouteId, Routes } from "./contract.ts";
import { type EventOptions, followEvents, listLinks } from "./feed.ts";
import type { CallOptions, ClientOptions, WriteOptions } from "./options.ts";
import { makeUrls } from "./requests.ts";
import { type PollOptions, pollSession, waitForSession, watchSession } from "./session_reads.ts";
import { makeTransport, type Transport } from "./transport.ts";

type Call = Transport["call"];
type Parameters<Id extends RouteId> = Routes[Id]["parameters"];

/** The options of a method that reads: the route's parameters, except those that the method takes as arguments. */
type Reading<Id extends RouteId, Given extends string = never> = Omit<Parameters<Id>, Given> & CallOptions;
type Writing<Id extends RouteId, Given extends string = never> = Omit<Parameters<Id>, Given> & WriteOptions;

/**
 * Links between chat users and game users. With a guild-scoped key, each method except the listings needs the `guildId`
 * of the key. `links()` iterates over all links, page by page. Its return value is a cursor: follow the events from
 * there to keep the list up to date.
 */
export interface Links extends ReturnType<typeof makeLinks> {}

const makeLinks = (call: Call, transport: Transport) =>
  Object.assign((options?: CallOptions) => listLinks(transport, options), {
    /** Returns a page of all links. `GET /v2/links` */
    list: (options?: Reading<"listLinks">) => call("listLinks", { ...options }),

    /** Returns the game user of a chat user; null if the chat user has no link. `GET /v2/chat` */
    get: (chatId: ChatId, options?: Reading<"getChat", "chatId">) =>
      orNull("LINK_NOT_FOUND", call("getChat", { ...options, chatId })),

    /** Returns the game users of up to 50 chat users, one result for each, in order. `POST /v2/chat/bulk` */
    getMany: (chatIds: ReadonlyArray<ChatId>, options?: Reading<"bulkChat", "chatIds">) =>
      call("bulkChat", { ...options, chatIds }),

    /** Returns the chat users of a game user; null if there are none. `GET /v2/game` */
    byGame: (gameId: GameId, options?: Reading<"getGame", "gameId">) =>
      orNull("LINK_NOT_FOUND", call("getGame", { ...options, gameId })),

    /** Returns the chat users of up to 50 game users, one result for each, in order. `POST /v2/game/bulk` */
    byGameMany: (gameIds: ReadonlyArray<GameId>, options?: Reading<"bulkGame", "gameIds">) =>
      call("bulkGame", { ...options, gameIds }),

    /** Returns whether a chat user is linked, and the time and version of the link. `GET /v2/verifications/chat` */
    verification: (chatId: ChatId, options?: Reading<"getVerification", "chatId">) =>
      call("getVerification", { ...options, chatId }),

    /** Links a chat user to a game user. `PATCH /v2/game` */
    set: (chatId: ChatId, gameId: GameId, options?: Writing<"patchGame", "chatId" | "gameId">) =>
      call("patchGame", { ...options, chatId, gameId }),

    /** Moves a link to another chat user. `PATCH /v2/chat` */
    move: (oldChatId: ChatId, newChatId: ChatId, options?: Writing<"patchChat", "oldChatId" | "newChatId">) =>
      call("patchChat", { ...options, oldChatId, newChatId }),

    /** Removes the link of a chat user. `DELETE /v2/game` */
    delete: (chatId: ChatId, options?: Writing<"deleteGame", "chatId">) =>
      call("deleteGame", { ...options, chatId }),

    /** Deletes all data of the key's scope. `DELETE /v2/data` */
    deleteAll: (options: Writing<"deleteData">) => call("deleteData", { ...options }),
  });

/** Members of a guild, whose roles and nicknames follow the guild's role plan. */
export interface Members extends ReturnType<typeof makeMembers> {}

const makeMembers = (call: Call) => ({
  /** Applies the guild's role plan to a member now. `POST /v2/members/sync` */
  sync: (chatId: ChatId, guildId: GuildId, options?: CallOptions) =>
    call("syncMember", { ...options, chatId, guildId }),
});

/**
 * Accounts that may belong to one person, and moderators' reviews of them. The methods require a Premium key; partner
 * and staff keys may also call `findMany`.
 */
export interface Alts extends ReturnType<typeof makeAlts> {}

const makeAlts = (call: Call) => ({
  /** Finds possible alts of a chat user, a game user or an address. `GET /v2/alts` */
  find: (options: Reading<"getAlts">) => call("getAlts", { ...options }),

  /** Finds possible alts of up to 10 game users, one result for each, in order. `POST /v2/alts/bulk` */
  findMany: (gameIds: ReadonlyArray<GameId>, options?: Reading<"bulkAlts", "gameIds">) =>
    call("bulkAlts", { ...options, gameIds }),

  /** Records whether two chat users are one person. `PUT /v2/alts/reviews` */
  review: async (
    chatId: ChatId,
    otherChatId: ChatId,
    verdict: Parameters<"putAltReview">["verdict"],
    options?: Writing<"putAltReview", "chatId" | "otherChatId" | "verdict">,
  ) => (await call("putAltReview", { ...options, chatId, otherChatId, verdict })).review,

  /** Returns the reviews of a chat user. `GET /v2/alts/reviews` */
  reviews: async (chatId: ChatId, options?: Reading<"getAltReviews", "chatId">) =>
    (await call("getAltReviews", { ...options, chatId })).reviews,

  /** Deletes the review of two chat users. `DELETE /v2/alts/reviews` */
  deleteReview: (
    chatId: ChatId,
    otherChatId: ChatId,
    options?: Writing<"deleteAltReview", "chatId" | "otherChatId">,
  ) => call("deleteAltReview", { ...options, chatId, otherChatId }),
});

/**
 * Changes in the key's scope. `events()` follows them from a cursor on; without a cursor, from now on, or as `from`
 * says. Each event comes with the cursor after it. The iterator has no end: it reconnects after restarts, rate limits
 * and ended streams. It rejects with `CONFLICT` when the service no longer keeps events as old as the cursor. `GET
 * /v2/events/stream`
 */
export interface Events extends ReturnType<typeof makeEvents> {}

const makeEvents = (call: Call, transport: Transport) =>
  Object.assign((options?: EventOptions) => followEvents(transport, options), {
    /** Returns a page of events. `GET /v2/events` */
    read: (options?: Reading<"getEvents">) => call("getEvents", { ...options }),
  });

/** Reports of leaked keys. Reporting requires no key. */
export interface Keys extends ReturnType<typeof makeKeys> {}

const makeKeys = (call: Call) => ({
  /** Reports a leaked key, which is revoked at once. `POST /v2/keys/leaked` */
  reportLeaked: (key: string, options?: CallOptions) => call("reportLeakedKey", { ...options, key }),
});

export interface Sessions extends ReturnType<typeof makeSessions> {}

const makeSessions = (call: Call, transport: Transport, urlOf: ReturnType<typeof makeUrls>) => ({
  /** Creates a session. Send the user to the session's `url`. `POST /v2/sessions` */
  create: (options: Writing<"createSession">) => call("createSession", { ...options }),

  /** Returns the current state of a session; null if the key has no such session. `GET /v2/sessions/:sid` */
  get: (sid: string, options?: PollOptions) =>
    orNull("SESSION_NOT_FOUND", call("getSession", { ...options, sid })),

  /** Yields the session at each change, by long poll, up to the final state. */
  poll: (sid: string, options?: PollOptions) => pollSession(transport, sid, options),

  /** Yields the session now and at each change, by stream, up to the final state. `GET /v2/sessions/:sid/stream` */
  watch: (sid: string, options?: CallOptions) => watchSession(transport, sid, options),

  /**
   * Waits by long poll until a session is completed, failed or cancelled; rejects with `SESSION_EXPIRED` when the
   * session expires.
   */
  wait: (sid: string, options?: PollOptions) => waitForSession(transport, sid, options),

  /** Cancels a session. `DELETE /v2/sessions/:sid` */
  cancel: (sid: string, options?: WriteOptions) => call("cancelSession", { ...options, sid }),

  /** Returns a URL that redirects a browser into the session. `GET /v2/sessions/:sid/redirect` */
  redirectUrl: (sid: string) => urlOf("redirectSession", { sid }),
});

/** A client of one service, with one key. */
export interface Client {
  readonly links: Links;
  readonly members: Members;
  readonly alts: Alts;
  readonly events: Events;
  readonly keys: Keys;
  readonly sessions: Sessions;
}

/**
 * Creates a client. It opens no connection, so it has no close method.
 *
 * @throws TypeError when an option is unknown, or the key contains characters that are invalid in a key
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
  const { call } = transport;
  return {
    links: makeLinks(call, transport),
    members: makeMembers(call),
    alts: makeAlts(call),
    events: makeEvents(call, transport),
    keys: makeKeys(call),
    sessions: makeSessions(call, transport, makeUrls(options)),
  };
};
