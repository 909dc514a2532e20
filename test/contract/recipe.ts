import type { ErrorCode } from "@accountlink/core/errors";
import { expect } from "vitest";
import { type KeyOptions, stranger } from "../support/fixtures.ts";

export type Values = Readonly<Record<string, unknown>>;

/** A request to a route, and the answer that the route must give. */
export interface Exchange {
  /** The status and the error code. The code is checked only in v2, because answers of v1 do not contain it. */
  readonly answer: `${number} ${ErrorCode | "-"}`;
  readonly values: Values;
  /**
   * What the answer must contain: the `details` of a v2 refusal, the message of a v1 refusal, or a part of the data of
   * a success.
   */
  readonly expected: unknown;
}

/** The properties of a route. Most test cases of the route are made from them. */
export interface Recipe {
  readonly good: Values;
  /** What the `data` of a successful answer must contain, with the `message` of a v1 write. */
  readonly data: unknown;
  /** The required parameters in documented order. The guild is not listed here, even if the route requires it. */
  readonly required: ReadonlyArray<string>;
  /** Parameters with an invalid value. If left out, the test case sends an unknown `Service-Version` instead. */
  readonly invalid?: Values;
  /** The reason of the refusal for a chat user outside the guild, if the route requires membership. */
  readonly member?: "user_not_in_guild" | "new_user_not_in_guild";
  /** Parameters that name a chat user outside the guild. */
  readonly strange?: Values;
  /**
   * Which guilds a request may name: `none` for no guild, `own` for only the guild to which the key belongs. If left
   * out, a request may name any guild.
   */
  readonly guilds?: "none" | "own";
  readonly guildRequired?: false;
  /** Options of the key that the test cases use. By default, the key is a global key of the free tier. */
  readonly key?: KeyOptions;
  readonly resolved?: true;
  /** Which keys may use the route; all if left out. `custom` means partner and staff keys. */
  readonly tier?: "premium" | "premium_or_global" | "premium_or_custom";
  /**
   * Which keys with restricted access (`read`, `verify`) may use the route. If left out, the route refuses both
   * kinds of restricted keys.
   */
  readonly access?: ReadonlyArray<"read" | "verify">;
  /** Whether the route needs no key. */
  readonly isOpen?: true;
  /** The status of a success; 200 by default. */
  readonly status?: 201 | 302;
  readonly isVerify?: true;
  /** Whether the request names a session that belongs to the key. */
  readonly hasSession?: true;
  /**
   * Requests with a Premium key, and their answers, for cases that the other fields do not cover. `key` changes options
   * of the key.
   */
  readonly others?: ReadonlyArray<Exchange & { readonly key?: KeyOptions }>;
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
