/**
 * Exporting the links of a scope, in pages and in constant memory.
 */
import { type ChatId, LinkStore, type Pid } from "@accountlink/core";
import { Effect, Option, Stream } from "effect";
import type { ShowProgress } from "./internal/progress.ts";
import { formatLinks, type LinkFormat, linkFileHeader } from "./link_files.ts";

const pageSize = 10_000;

/**
 * The text of the file, in the order of chat IDs as strings. Links that change meanwhile are exported as they were
 * before or after.
 */
export const exportLinks = (pid: Pid, format: LinkFormat, show: ShowProgress) => {
  let exported = 0;
  const pages = Stream.paginate(
    null as ChatId | null,
    Effect.fnUntraced(function* (after: ChatId | null) {
      const page = yield* (yield* LinkStore).exportPage(pid, after, pageSize);
      exported += page.length;
      yield* show({ doing: "exporting", done: exported, total: null, unit: "links" });
      const next = page.length < pageSize ? Option.none() : Option.fromUndefinedOr(page.at(-1)?.chatId);
      return [page.length === 0 ? [] : [formatLinks(page, format)], next] as const;
    }),
  );
  const header = linkFileHeader(format);
  return {
    text: Stream.concat(header === "" ? Stream.empty : Stream.succeed(header), pages),
    /** Links that were exported so far. */
    exported: () => exported,
  };
};
