/** The mistakes that conformance has to catch. */
import { mutants as keys } from "./keys.ts";
import { mutants as linkLists } from "./link_lists.ts";
import { mutants as linkWrites } from "./link_writes.ts";
import type { Mutant } from "./mutant.ts";
import { mutants as otherStores } from "./other_stores.ts";
import { mutants as verification } from "./verification.ts";

export type { Mutant } from "./mutant.ts";

export const mutants: ReadonlyArray<Mutant> = [
  ...linkWrites,
  ...linkLists,
  ...verification,
  ...keys,
  ...otherStores,
];
