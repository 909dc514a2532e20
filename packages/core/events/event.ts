import type { Actor, AuditEntry } from "../audit/audit.ts";
import { erasedMark } from "../erased_mark.ts";
import { type ChatId, type GameId, isChatId } from "../ids.ts";
import type { GameProof } from "../links/link_proof.ts";
import type { Millis } from "../timestamp.ts";
import { newUlid } from "../ulid.ts";

type Erased = typeof erasedMark;

/**
 * `api`: a key. `flow`: a verification flow. `user`: the chat user, on the own page or in chat. `dashboard`: members of
 * the account. `operator`: people who run the service.
 */
export type EventSource = "api" | "flow" | "user" | "dashboard" | "operator";

export interface SessionEnd {
  readonly clientId: string;
  readonly chatId: ChatId | Erased | null;
  readonly gameId: GameId | Erased | null;
  readonly linkChanged: boolean;
  readonly previousGameId: GameId | Erased | null;
  readonly error: string | null;
}

/**
 * The data of each type of event. Events of an erased chat user contain `[erased]` instead of the user's identifiers.
 */
export interface EventData {
  readonly "link.set": {
    readonly chatId: ChatId | Erased;
    readonly gameId: GameId | Erased;
    readonly previousGameId: GameId | Erased | null;
    readonly linkVersion: number;
    readonly lastVerifiedAt: Millis;
    readonly source: EventSource;
  };
  /** The link of `previousChatId` now belongs to `chatId`. */
  readonly "link.moved": {
    readonly chatId: ChatId | Erased;
    readonly previousChatId: ChatId | Erased;
    readonly gameId: GameId | Erased;
    readonly linkVersion: number;
    readonly lastVerifiedAt: Millis;
    readonly source: EventSource;
  };
  readonly "link.removed": {
    readonly chatId: ChatId | Erased;
    readonly gameId: null;
    readonly previousGameId: GameId | Erased;
    readonly linkVersion: number;
    readonly source: EventSource;
  };
  /** Many links were stored. Clients that keep a copy should list all links again. */
  readonly "links.imported": { readonly count: number; readonly source: EventSource };
  /** `deletedRecords` counts all records deleted so far. The deletion of a large scope sends several events. */
  readonly "scope.deleted": { readonly deletedRecords: number; readonly source: EventSource };
  readonly "user.erased": { readonly chatId: ChatId | Erased };
  readonly "session.completed": SessionEnd & { readonly proof: GameProof | null };
  readonly "session.failed": SessionEnd;
  readonly "session.cancelled": SessionEnd;
}

export type EventType = keyof EventData;

/** @internal */
export const eventTypes = [
  "link.set",
  "link.moved",
  "link.removed",
  "links.imported",
  "scope.deleted",
  "user.erased",
  "session.completed",
  "session.failed",
  "session.cancelled",
] as const satisfies ReadonlyArray<EventType>;

export type Happening = {
  readonly [Type in EventType]: { readonly type: Type; readonly data: EventData[Type] };
}[EventType];

/** What readers of the feed learn. */
export type NewEvent = Happening & {
  /** The event's ID, `evt_` and a ULID. An event has the same ID in the feed and in webhooks. */
  readonly id: string;
  readonly at: Millis;
};

export type FeedEvent = NewEvent & {
  /** The place of the event in its feed. Later events have greater positions, with gaps. */
  readonly position: number;
  /** What the team of the account may read besides: who made the change, and its details. Null if the audit log has no entry. */
  readonly entry: Pick<AuditEntry, "actor" | "details"> | null;
  /** Set for the undo of an import, whose type is the one of an import: readers of the feed list all links after both. */
  readonly isUndo?: true;
};

/** @internal */
export const newEventId = (at: Millis): string => `evt_${newUlid(at)}`;

/**
 * Returns the source of a change by its actor. Verification flows do not call this function: their source is `flow`.
 * @internal
 */
export const sourceOf = ({ type }: Actor): EventSource => {
  const sources = { key: "api", user: "user", account: "dashboard", operator: "operator" } as const;
  return sources[type];
};

/** Which events to read. A field that is null matches all events. @internal */
export interface EventFilter {
  readonly types: ReadonlyArray<EventType> | null;
  readonly chatId: ChatId | null;
  readonly gameId: GameId | null;
}

const idsIn = (data: object, ...names: ReadonlyArray<string>): ReadonlyArray<unknown> =>
  names.map((name) => (data as Readonly<Record<string, unknown>>)[name]);

/** Returns the users that an event names, without erased ones: of its link, and of the link before a move. @internal */
export const usersNamedIn = ({ data }: Happening): ReadonlyArray<ChatId> => [
  ...new Set(idsIn(data, "chatId", "previousChatId").filter(isChatId)),
];

/** Returns whether an event matches a filter, by its present or previous IDs. @internal */
export const matchesFilter = ({ type, data }: Happening, { types, chatId, gameId }: EventFilter): boolean => {
  if (types !== null && !types.includes(type)) return false;
  const has = (id: string | null, ...names: ReadonlyArray<string>) =>
    id === null || idsIn(data, ...names).includes(id);
  return has(chatId, "chatId", "previousChatId") && has(gameId, "gameId", "previousGameId");
};
