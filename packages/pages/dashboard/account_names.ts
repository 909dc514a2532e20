/** The names that an owner types to confirm a deletion. */
import { InvalidParameter } from "@accountlink/core/errors";
import { type Account, shownName } from "@accountlink/core/keys";
import { Effect } from "effect";
import { makeAccountTitle } from "./owner_pages.ts";

/** Returns a function that lists the names by which an owner may call an account. */
export const makeAccountNames = Effect.map(
  makeAccountTitle,
  (titleOf) => (account: Account) =>
    Effect.map(titleOf(account), (title) => [account.name, shownName(account), title]),
);

/** Fails unless the text is one of the names of what the request deletes. Keyboards have no typographic apostrophe. */
export const requireConfirmed = (text: string, names: ReadonlyArray<string | null>) =>
  names.some((name) => name !== null && plain(name) === plain(text))
    ? Effect.void
    : InvalidParameter.one("confirm", "expected the name of what is deleted");

const plain = (text: string): string => text.trim().replaceAll("’", "'");
