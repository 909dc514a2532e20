/** The outcomes of writes of links: what a store keeps of them under an idempotency key, and what a service answers. */
import { Option } from "effect";
import type { ChatId, GameId } from "../ids.ts";
import type { ChatMoved, GameSet, GameUnlinked, MoveChat, RemoveGame, ScopeDeleted } from "./link_store.ts";

export interface GameUpdated {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** The value that this write replaced. */
  readonly previousGameId: GameId | null;
  /** Whether `previousGameId` differs from `gameId`. */
  readonly updated: boolean;
}

export interface ChatUpdated {
  readonly previousChatId: ChatId;
  readonly chatId: ChatId;
  readonly gameId: GameId;
  readonly updated: boolean;
}

export interface GameRemoved {
  readonly chatId: ChatId;
  readonly removedGameId: GameId;
  readonly deleted: true;
}

/** What a store keeps of `LinkStore.setGame`. @internal */
export type KeptSet = Omit<GameUpdated, "updated">;

/** @internal */
export const keptSet = ({ record: { chatId, gameId }, previousGameId }: GameSet): KeptSet => ({
  chatId,
  gameId,
  previousGameId,
});

/** @internal */
export const gameUpdated = ({ chatId, gameId, previousGameId }: KeptSet): GameUpdated => ({
  chatId,
  gameId,
  previousGameId,
  updated: previousGameId !== gameId,
});

/** Returns null for a refusal. @internal */
export const keptMove = (
  moved: ChatMoved,
  { oldChatId, newChatId }: Pick<MoveChat, "oldChatId" | "newChatId">,
): ChatUpdated | null =>
  "gameId" in moved
    ? { previousChatId: oldChatId, chatId: newChatId, gameId: moved.gameId, updated: moved._tag === "Moved" }
    : null;

/** @internal */
export const removedGame = (chatId: ChatId, removedGameId: GameId): GameRemoved => ({
  chatId,
  removedGameId,
  deleted: true,
});

/** Returns null if there was no link. @internal */
export const keptRemoval = (
  removed: Option.Option<GameUnlinked>,
  { chatId }: Pick<RemoveGame, "chatId">,
): GameRemoved | null => Option.getOrNull(Option.map(removed, ({ gameId }) => removedGame(chatId, gameId)));

/** @internal */
export const keptDeletion = ({ records }: ScopeDeleted): number => records;
