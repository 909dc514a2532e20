/** Mistakes in lists, imports and deletions of links. */
import type { Mutant } from "./mutant.ts";

const links = "links/link_store.ts";
const scopeLinks = "state/scope_links.ts";

export const mutants: ReadonlyArray<Mutant> = [
  {
    mistake: "wrong tie order: chat users of one time by number, not as text",
    file: scopeLinks,
    from: "(one.chatId < other.chatId ? -1 : 1)",
    to: "(Number(one.chatId) - Number(other.chatId))",
  },
  {
    mistake: "wrong tie order: chat users of one time as they came",
    file: scopeLinks,
    from: " || (one.chatId < other.chatId ? -1 : 1)",
    to: "",
  },
  {
    mistake: "wrong order: oldest link first",
    file: scopeLinks,
    from: "other.linkedAt - one.linkedAt",
    to: "one.linkedAt - other.linkedAt",
  },
  {
    mistake: "damaged index: a replaced link is still found by its old game",
    file: scopeLinks,
    from: "    else this.#unindex(replaced);\n",
    to: "",
  },
  {
    mistake: "exportPage repeats the last link of the page before",
    file: scopeLinks,
    from: "(ids[middle] as ChatId) <= id",
    to: "(ids[middle] as ChatId) < id",
  },
  {
    mistake: "exportPage counts records without a link",
    file: scopeLinks,
    from: "if (isLinked(record)) links.push(record);",
    to: "if (isLinked(record)) links.push(record);\n      else limit--;",
  },
  {
    mistake: "importBatch keeps the first of two lines of a chat user",
    file: links,
    from: "new Map(lines.map((line) => [line.chatId, line]))",
    to: "new Map(lines.toReversed().map((line) => [line.chatId, line]))",
  },
  {
    mistake: "importBatch replaces what it should keep",
    file: links,
    from: `existing === "keep" && record !== undefined ? record`,
    to: `existing === "keep" && record?.gameId ? record`,
  },
  {
    mistake: "the progress of an import is forgotten a day too early",
    file: links,
    from: "savedAt < at - progressKeptFor",
    to: "savedAt < at - progressKeptFor + 86_400_000",
  },
  {
    mistake: "a deleted scope keeps its sightings",
    file: links,
    from: "  memory.sightings.delete(pid);\n",
    to: "",
  },
  {
    mistake: "a deleted scope keeps its reviews",
    file: links,
    from: "  memory.reviews.delete(pid);\n",
    to: "",
  },
  {
    mistake: "a deleted scope keeps its sessions open",
    file: links,
    from: "ended: endVerifications(memory, pid, null, at) };",
    to: "ended: [] };",
  },
];
