/** The client: a method for each route of v2. */
import type { ChatId, GameId, GuildId, RouteId, Routes, VerificationSession } from "./contract.ts";
import { AccountLinkError, type ErrorCode } from "./errors.ts";
import { type EventOptions, type FollowedEvent, followEvents, listLinks } from "./feed.ts";
import type { CallOptions, ClientOptions, WriteOptions } from "./options.ts";
import { makeUrls } from "./requests.ts";
import { type PollOptions, pollSession, waitForSession, watchSession } from "./session_reads.ts";
import { type Data, makeTransport, type Transport } from "./transport.ts";

type Parameters<Id extends RouteId> = Routes[Id]["parameters"];

/** The options of a method that reads: the route's parameters, except those that the method takes as arguments. */
type Reading<Id extends RouteId, Given extends string = never> = Omit<Parameters<Id>, Given> & CallOptions;
type Writing<Id extends RouteId, Given extends string = never> = Omit<Parameters<Id>, Given> & WriteOptions;

/**
 * Links between chat users and game users. With a guild-scoped key, each method except the listings needs the `guildId`
 * of the key.
 */
export interface Links {
  /**
   * Iterates over all links, page by page. The return value is a cursor: follow the events from there to keep the list
   * up to date.
   */
  (options?: CallOptions): AsyncGenerator<Data<"listLinks">["links"][number], string>;
  /** Returns a page of all links. `GET /v2/links` */
  readonly list: (options?: Reading<"listLinks">) => Promise<Data<"listLinks">>;
  /** Returns the game user of a chat user; null if the chat user has no link. `GET /v2/chat` */
  readonly get: (chatId: ChatId, options?: Reading<"getChat", "chatId">) => Promise<Data<"getChat"> | null>;
  /** Returns the game users of up to 50 chat users, one result for each, in order. `POST /v2/chat/bulk` */
  readonly getMany: (
    chatIds: ReadonlyArray<ChatId>,
    options?: Reading<"bulkChat", "chatIds">,
  ) => Promise<Data<"bulkChat">>;
  /** Returns the chat users of a game user; null if there are none. `GET /v2/game` */
  readonly byGame: (
    gameId: GameId,
    options?: Reading<"getGame", "gameId">,
  ) => Promise<Data<"getGame"> | null>;
  /** Returns the chat users of up to 50 game users, one result for each, in order. `POST /v2/game/bulk` */
  readonly byGameMany: (
    gameIds: ReadonlyArray<GameId>,
    options?: Reading<"bulkGame", "gameIds">,
  ) => Promise<Data<"bulkGame">>;
  /** Returns whether a chat user is linked, and the time and version of the link. `GET /v2/verifications/chat` */
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

/** Members of a guild, whose roles and nicknames follow the guild's role plan. */
export interface Members {
  /** Applies the guild's role plan to a member now. `POST /v2/members/sync` */
  readonly sync: (chatId: ChatId, guildId: GuildId, options?: CallOptions) => Promise<Data<"syncMember">>;
}

/**
 * Accounts that may belong to one person, and moderators' reviews of them. The methods require a Premium key; partner
 * and staff keys may also call `findMany`.
 */
export interface Alts {
  /** Finds possible alts of a chat user, a game user or an address. `GET /v2/alts` */
  readonly find: (options: Reading<"getAlts">) => Promise<Data<"getAlts">>;
  /** Finds possible alts of up to 10 game users, one result for each, in order. `POST /v2/alts/bulk` */
  readonly findMany: (
    gameIds: ReadonlyArray<GameId>,
    options?: Reading<"bulkAlts", "gameIds">,
  ) => Promise<Data<"bulkAlts">>;
  /** Records whether two chat users are one person. `PUT /v2/alts/reviews` */
  readonly review: (
    chatId: ChatId,
    otherChatId: ChatId,
    verdict: Parameters<"putAltReview">["verdict"],
    options?: Writing<"putAltReview", "chatId" | "otherChatId" | "verdict">,
  ) => Promise<Data<"putAltReview">["review"]>;
  /** Returns the reviews of a chat user. `GET /v2/alts/reviews` */
  readonly reviews: (
    chatId: ChatId,
    options?: Reading<"getAltReviews", "chatId">,
  ) => Promise<Data<"getAltReviews">["reviews"]>;
  /** Deletes the review of two chat users. `DELETE /v2/alts/reviews` */
  readonly deleteReview: (
    chatId: ChatId,
    otherChatId: ChatId,
    options?: Writing<"deleteAltReview", "chatId" | "otherChatId">,
  ) => Promise<Data<"deleteAltReview">>;
}

/** Changes in the key's scope. */
export interface Events {
  /**
   * Follows events from a cursor on; without a cursor, from now on, or as `from` says. Each event comes with the cursor
   * after it. The iterator has no end: it reconnects after restarts, rate limits and ended streams. It rejects with
   * `CONFLICT` when the service no longer keeps events as old as the cursor. `GET /v2/events/stream`
   */
  (options?: EventOptions): AsyncGenerator<FollowedEvent, void>;
  /** Returns a page of events. `GET /v2/events` */
  readonly read: (options?: Reading<"getEvents">) => Promise<Data<"getEvents">>;
}

/** Reports of leaked keys. Reporting requires no key. */
export interface Keys {
  /** Reports a leaked key, which is revoked at once. `POST /v2/keys/leaked` */
  readonly reportLeaked: (key: string, options?: CallOptions) => Promise<Data<"reportLeakedKey">>;
}

export interface Sessions {
  /** Creates a session. Send the user to the session's `url`. `POST /v2/sessions` */
  readonly create: (options: Writing<"createSession">) => Promise<VerificationSession>;
  /** Returns the current state of a session; null if the key has no such session. `GET /v2/sessions/:sid` */
  readonly get: (sid: string, options?: PollOptions) => Promise<VerificationSession | null>;
  /** Yields the session at each change, by long poll, up to the final state. */
  readonly poll: (sid: string, options?: PollOptions) => AsyncGenerator<VerificationSession, void>;
  /** Yields the session now and at each change, by stream, up to the final state. `GET /v2/sessions/:sid/stream` */
  readonly watch: (sid: string, options?: CallOptions) => AsyncGenerator<VerificationSession, void>;
  /**
   * Waits by long poll until a session is completed, failed or cancelled; rejects with `SESSION_EXPIRED` when the
   * session expires.
   */
  readonly wait: (sid: string, options?: PollOptions) => Promise<VerificationSession>;
  /** Cancels a session. `DELETE /v2/sessions/:sid` */
  readonly cancel: (sid: string, options?: WriteOptions) => Promise<VerificationSession>;
  /** Returns a URL that redirects a browser into the session. `GET /v2/sessions/:sid/redirect` */
  readonly redirectUrl: (sid: string) => string;
}

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
 * @throws TypeError when the key contains characters that are invalid in a key
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
    members: {
      sync: (chatId, guildId, rest) => call("syncMember", { ...rest, chatId, guildId }),
    },
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

/** The methods of a group such as `Links`, without the group's own call signature `links()`. */
type Methods<Group> = { readonly [Name in keyof Group]: Group[Name] };

const orNull = <A>(missing: ErrorCode, found: Promise<A>): Promise<A | null> =>
  found.catch((error: unknown) => {
    if (error instanceof AccountLinkError && error.code === missing) return null;
    throw error;
  });
