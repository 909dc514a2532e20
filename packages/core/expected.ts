/** What values have to be, as codes: answers of the interface say them in English, pages in the reader's language. */

/** A code with the numbers and names that its words need. */
export type Expected =
  | { readonly is: "characters"; readonly most: number }
  | { readonly is: "text" | "text_or_null"; readonly most: number }
  | { readonly is: "digits"; readonly least: number; readonly most: number }
  | { readonly is: "whole_number"; readonly least: number; readonly most: number }
  | { readonly is: "https"; readonly most: number }
  | { readonly is: "own_role" | "guild_role" | "other_role"; readonly role: string }
  | { readonly is: "known_group"; readonly group: string }
  | { readonly is: "known_item"; readonly item: string; readonly items: string }
  // `text` is for clients, which send other forms of these values than pages show.
  | { readonly is: "rules" | "roles" | "scopes"; readonly most: number; readonly text: string }
  | { readonly is: "nickname" | "choice"; readonly text: string }
  | { readonly is: PlainCode };

/** The texts of codes that need no more words. */
const plain = {
  reminder_days: "expected null or 1 to 90 days",
  channel: "expected a channel in which the bot may post",
  panel_text: "the chat platform refuses this text",
  game_user: "expected a user of the game platform, found none",
  known_id: "nobody was found with this ID",
  known_user: "nobody was found with this ID or user name",
  known_name: "nobody was found with this user name",
  another_user: "expected another user than chatId",
  own_accounts: "someone else decides about your own accounts",
  confirmation: "expected the name of what is deleted",
  all_communities: "expected null, since an owner is of all communities",
  own_communities: "expected communities of the account",
  some_role: "expected a role that not everybody has",
  groups: "the game platform tells no groups",
  ages: "the game platform does not tell how old accounts are",
  items: "the game platform tells no items",
  role_permission: "the bot may not make roles: allow it to manage roles",
  further_roles: "the chat platform refuses to make further roles",
  nicknames_off: "expected rules without nicknames, or paused ones",
  one_user: "expected either a chat user or a game user",
  blocks_file: "expected a CSV file of blocks, with a column chatId or gameId",
  rank_group: "expected the ID of a group for {group.role}",
} as const;

type PlainCode = keyof typeof plain;

const visibleText =
  "at least one of them visible, no control characters, zero-width characters or direction overrides";

/** Says in English what was expected, or why the value is refused. @internal */
export const expectedText = (expected: Expected): string => {
  if ("text" in expected) return expected.text;
  switch (expected.is) {
    case "characters":
      return `expected at most ${expected.most} characters`;
    case "text":
      return `expected 1 to ${expected.most} characters, ${visibleText}`;
    case "text_or_null":
      return `expected 1 to ${expected.most} characters, ${visibleText}, or null`;
    case "digits":
      return `expected ${expected.least} to ${expected.most} digits`;
    case "whole_number":
      return `expected a whole number from ${expected.least} to ${expected.most}, or null`;
    case "https":
      return `expected an https URL of at most ${expected.most} characters, without a user, white space and direction marks, or null`;
    case "own_role":
      return `you may not give the role "${expected.role}" yourself`;
    case "guild_role":
      return `the guild has no role "${expected.role}"`;
    case "other_role":
      return `expected a condition on a role that no rule gives, got "${expected.role}"`;
    case "known_group":
      return `the game platform has no group "${expected.group}"`;
    case "known_item":
      return `the game platform has no items "${expected.item}", expected one of ${expected.items}`;
    default:
      return plain[expected.is];
  }
};
