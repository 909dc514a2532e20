import type { ErrorCode } from "@accountlink/core/errors";
import { expect } from "vitest";
import { type KeyOptions, stranger } from "../support/fixtures.ts";

export type Values = Readonly<Record<string, unknown>>;

/** Values of a request, and the documented answer. */
export interface Exchange {
  /** Status and code. v1 does not show the code, but documents the same refusals. */
  readonly answer: `${number} ${ErrorCode | "-"}`;
  readonly values: Values;
  /** The `details` of a v2 refusal, the message of a v1 refusal, or part of the data of a success. */
  readonly expected: unknown;
}

/** The properties of a route, from which most of its cases are made. */
export interface Recipe {
  readonly good: Values;
  /** Part of the data of a success. */
  readonly data: unknown;
  /** The required parameters in documented order, without the guild. */
  readonly required: ReadonlyArray<string>;
  /** An invalid value. Without one, the case sends an unknown `Service-Version`. */
  readonly invalid?: Values;
  /** The reason of the refusal for a chat user outside the guild, if the route requires membership. */
  readonly member?: "user_not_in_guild" | "new_user_not_in_guild";
  /** Values that name a chat user outside the guild. */
  readonly strange?: Values;
  /** Whether the route takes no guild, or only the guild of a guild key. Most routes take any guild. */
  readonly guilds?: "none" | "own";
  readonly guildRequired?: false;
  /** The key of the cases, if it is not a free global key. */
  readonly key?: KeyOptions;
  readonly resolved?: true;
  /** The keys that the route serves; all keys if left out. */
  readonly tier?: "premium" | "premium_or_global" | "premium_or_custom";
  /** The restricted kinds of key access that may use the route; none if left out. */
  readonly access?: ReadonlyArray<"read" | "verify">;
  /** Whether the route needs no key. */
  readonly isOpen?: true;
  /** The status of a success; 200 by default. */
  readonly status?: 201 | 302;
  readonly isVerify?: true;
  /** Whether the request names a session that belongs to the key. */
  readonly hasSession?: true;
  /** Answers of the route that do not follow from the rest of the recipe. The requests use a Premium key. */
  readonly others?: ReadonlyArray<Exchange>;
}

export const pending = { clientId: "client", state: "pending", chatId: null, gameId: null, error: null };

export const creation = {
  access: ["verify"],
  good: { clientId: "client" },
  data: pending,
  required: ["clientId"],
  invalid: { chatId: "x" },
  member: "user_not_in_guild",
  strange: { clientId: "client", chatId: stranger },
  status: 201,
  isVerify: true,
} as const satisfies Recipe;

export const reading = {
  access: ["verify"],
  good: {},
  data: pending,
  required: [],
  guilds: "none",
  isVerify: true,
  hasSession: true,
} as const satisfies Partial<Recipe>;

export const streamed = expect.stringMatching(
  /^retry: 2000\n\nid: 1\nevent: session\ndata: \{"sid":"vs_.*\}\n\nevent: timeout\ndata: \{\}\n\n$/,
);
