/**
 * Exports the links of a scope in constant memory.
 */
import { type ChatId, LinkStore, type Pid } from "@accountlink/core";
import { Effect, Option, Stream } from "effect";
import type { ShowProgress } from "../cli/progress.ts";
import { formatLinks, type LinkFormat, linkFileHeader } from "./link_files.ts";

const pageSize = 10_000;

/**
 * The text of the file, ordered by chat ID as a string. Links that change during the export may be
 * exported in their old or new state.
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
    /** The number of links exported so far. */
    exported: () => exported,
  };
};
