/** A case of the coverage table, and the class that writes cases. */
import type { KeyOptions } from "../support/fixtures.ts";
import type { RequestOptions } from "../support/http.ts";
import type { Exchange, Recipe, Values } from "./recipe.ts";
import { v1Recipes } from "./recipes_v1.ts";

export type Surroundings =
  | "well"
  | "chat platform down"
  | "sessions short"
  | "events swept"
  | "stores down"
  | "stores broken";

/** A request and its documented answer. */
export interface Case extends Exchange {
  readonly route: string;
  readonly title: string;
  /**
   * The key that the request sends; null for no key. In the scope of the key, chat user 100001 is linked to game user
   * 1, and chat user 100002 to game user 2.
   */
  readonly key: KeyOptions | null;
  /** Request options that replace those made from `values`. `query` replaces the query string. */
  readonly raw?: RequestOptions & { readonly query?: string };
  /** The state of the session that the request names, if any. */
  readonly session?: "pending" | "cancelled" | "expired";
  /** How many times the request is sent before the request that is checked. */
  readonly before?: number;
  /** Whether the idempotency key of the request was already used for another request. */
  readonly isReusing?: true;
  /** Whether the requests before the checked request send a wrong key. `before` is the number of these requests. */
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

  /** Makes a test case of the route. The case sends a request that succeeds, unless `differences` change it. */
  row(answer: Case["answer"], title: string, expected: unknown, differences: Differences = {}): Case {
    const { route, recipe, isOpen } = this;
    const usual: KeyOptions = recipe.tier === undefined ? { ...recipe.key } : { tier: "premium" };
    const { key: chosen = isOpen ? null : {} } = differences;
    const key = chosen === null ? null : { ...usual, ...chosen };
    return { route, answer, title, expected, values: recipe.good, ...differences, key };
  }

  /** Returns the expected part of a refusal: the message for a v1 route, the `details` for a v2 route. */
  says(details: unknown, message: unknown): unknown {
    return isV1(this.route) ? message : details;
  }

  /**
   * Returns the key and the values of a case whose request names a guild. The key is a guild key if the route accepts
   * only the key's own guild. Otherwise the key is a global key.
   */
  inGuild(guildId: string, values: Values = this.recipe.good): Differences {
    return { key: this.recipe.guilds === "own" ? { guildId } : {}, values: { ...values, guildId } };
  }
}

export const when = (condition: boolean, ...rows: ReadonlyArray<Case>): ReadonlyArray<Case> =>
  condition ? rows : [];
