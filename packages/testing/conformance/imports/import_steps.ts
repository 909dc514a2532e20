/** The operations of `ImportStore` and `UploadStore` on one account, with defaults. */
import { LinkStore } from "@accountlink/core";
import { type ImportBatch, ImportStore, UploadStore } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import type { PortableLink } from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import { uniqueText } from "../../mod.ts";
import { line } from "../links/link_steps.ts";
import { ada, chess, makeScopes, origin, poker, rummy } from "../scopes.ts";

/** The most bytes of all imports, unless a case is about them. */
const room = 2 ** 40;

export const fileOf = (id: string, isUndoable = true) => ({ id, name: "users.csv", isUndoable });

export const makeSteps = Effect.gen(function* () {
  const [imports, uploads] = [yield* ImportStore, yield* UploadStore];
  const links = yield* LinkStore;
  const { account, global } = yield* makeScopes;
  const [one, other] = [uniqueText(), uniqueText()];
  const write = { ...origin, pid: global.pid, at: 0 };
  const hold = (id: string, node = one, at = 0, until = at + 10) => ({ id, node, at, until });
  const begin = Effect.fnUntraced(function* (at = 0, of = account.name) {
    const id = uniqueText();
    return (yield* uploads.begin({ ...hold(id, one, at), account: of, room })) ? id : null;
  });
  const find = (at = 0) => Effect.map(uploads.find(account.name, at), Option.getOrNull);
  const save = (id: string, phase: "reading" | "ready" | "running" | "over", node = one, at = 0) =>
    uploads.save({ ...hold(id, node, at), pid: global.pid, phase, details: '{"a":"\\u0000"}' });
  const running = Effect.fnUntraced(function* (at = 0) {
    const id = String(yield* begin(at));
    yield* save(id, "ready", one, at);
    yield* uploads.start(hold(id, one, at));
    return id;
  });
  const read = (id: string, part: number, file = "upload") =>
    Effect.map(uploads.readPart(id, { file, part }), (found) =>
      Option.match(found, { onNone: () => null, onSome: (bytes) => [...bytes] }),
    );
  const append = (id: string, part: number, bytes: ReadonlyArray<number>, node = one, file = "upload") =>
    uploads.append({ id, node }, { file, part, bytes: Uint8Array.from(bytes) });
  /** Imports links, in place of those that are there unless `parts` say otherwise. */
  const importLinks = (lines: ReadonlyArray<PortableLink>, parts: Partial<ImportBatch> = {}) =>
    imports.importBatch({
      ...write,
      existing: "replace",
      proof: "import",
      progress: null,
      links: lines,
      ...parts,
    });
  return {
    ...imports,
    ...uploads,
    sweepUndo: imports.sweep,
    links,
    account,
    global,
    one,
    other,
    write,
    hold,
    begin,
    find,
    save,
    running,
    read,
    append,
    load: (id: string, node = one, chatId = ada, gameId = chess) =>
      importLinks([line(chatId, gameId)], { holder: { id, node } }),
    importLinks,
    importFile: Effect.fnUntraced(function* (lines: ReadonlyArray<PortableLink>, at: Millis = 0) {
      const id = uniqueText();
      yield* importLinks(lines, { at, file: fileOf(id) });
      return id;
    }),
    putBack: Effect.fnUntraced(function* ({ chatId, gameId }: PortableLink) {
      yield* links.removeGame({ ...write, chatId });
      yield* links.restoreGame({ ...write, chatId, gameId, removedAt: write.at });
    }),
    undo: (id: string, at: Millis, limit = 10) => imports.undo({ ...write, at, id, limit }),
    holders: Effect.map(links.findByGameIds(global.pid, [chess, poker, rummy]), (found) => [...found]),
    allowOne: KeyStore.use((keys) => keys.updateSettings({ ...write, update: { oneChatUser: true } })),
  };
});
