/** The operations of `ImportStore` and `UploadStore` on one account, with defaults. */
import { LinkStore } from "@accountlink/core";
import { ImportStore, UploadStore } from "@accountlink/core/imports";
import { Effect, Option } from "effect";
import { uniqueText } from "../../mod.ts";
import { line } from "../links/link_steps.ts";
import { ada, chess, makeScopes, origin } from "../scopes.ts";

/** The most bytes of all imports, unless a case is about them. */
export const room = 2 ** 40;

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
  const load = (id: string, node = one, chatId = ada, gameId = chess) =>
    imports.importBatch({
      ...write,
      holder: { id, node },
      links: [line(chatId, gameId)],
      existing: "replace",
      proof: "import",
      progress: null,
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
    load,
  };
});
