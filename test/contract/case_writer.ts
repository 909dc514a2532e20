/** One case of the coverage table, and what writes it. */
import type { ErrorCode } from "@accountlink/core/errors";
import type { KeyOptions } from "../support/fixtures.ts";
import type { RequestOptions } from "../support/http.ts";
import { type Recipe, type Values, v1Recipes } from "./recipes.ts";

export type Surroundings =
  | "well"
  | "chat platform down"
  | "sessions short"
  | "events swept"
  | "stores down"
  | "stores broken";

/** One request and the answer that the documentation promises. */
export interface Case {
  readonly route: string;
  /** Status and code. v1 does not show the code, but documents the same refusals. */
  readonly answer: `${number} ${ErrorCode | "-"}`;
  readonly title: string;
  /** v2: the `details` of a refusal; v1: its message; part of the data of a success. */
  readonly expected: unknown;
  /** The key to send; null for none. Its scope holds the links 100001 → 1 and 100002 → 2. */
  readonly key: KeyOptions | null;
  readonly values: Values;
  /** What the request has instead of what the values make. */
  readonly raw?: RequestOptions & { readonly query?: string };
  /** A session of the key that the request is about, and what has become of it. */
  readonly session?: "pending" | "cancelled" | "expired";
  /** How often the request is sent before the one whose answer counts. */
  readonly before?: number;
  /** Whether its idempotency key is that of another request. */
  readonly isReusing?: true;
  /** Whether it is wrong keys that are sent before. */
  readonly isThrottled?: true;
  readonly surroundings?: Surroundings;
}

export type Differences = Partial<Omit<Case, "route" | "answer" | "title" | "expected">>;

export const isV1 = (route: string): boolean => route in v1Recipes;

export class Writer {
  readonly route: string;
  readonly recipe: Recipe;
  readonly isOpen: boolean;

  constructor(route: string, recipe: Recipe) {
    this.route = route;
    this.recipe = recipe;
    this.isOpen = recipe.isOpen === true;
  }

  /** A request that would succeed, but for the differences. */
  row(answer: Case["answer"], title: string, expected: unknown, differences: Differences = {}): Case {
    const { route, recipe, isOpen } = this;
    const usual: KeyOptions = recipe.tier === undefined ? {} : { tier: "premium" };
    const { key: chosen = isOpen ? null : {} } = differences;
    const key = chosen === null ? null : { ...usual, ...chosen };
    return { route, answer, title, expected, values: recipe.good, ...differences, key };
  }

  /** A refusal in the words of the route's generation. */
  says(details: unknown, message: unknown): unknown {
    return isV1(this.route) ? message : details;
  }

  /** The request in a guild, which a global key names, and a key is bound to where a global one may not name any. */
  inGuild(guildId: string, values: Values = this.recipe.good): Differences {
    return { key: this.recipe.guilds === "own" ? { guildId } : {}, values: { ...values, guildId } };
  }
}

export const when = (condition: boolean, ...rows: ReadonlyArray<Case>): ReadonlyArray<Case> =>
  condition ? rows : [];
