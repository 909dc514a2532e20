import { ChatId, GameId, type StoragePorts } from "@accountlink/core";
import {
  fileSources,
  fixtureSource,
  importKeptFor,
  progressKeptFor,
  UploadStore,
} from "@accountlink/core/imports";
import type { PortableLink } from "@accountlink/core/links";
import { Effect, Fiber, Option } from "effect";
import { uniqueText, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual, expectThat } from "../expect.ts";
import { line, newLinkSteps } from "../links/link_steps.ts";
import { ada, atOnce, bob, chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { makeSteps } from "./import_steps.ts";
import { undos } from "./undos.ts";

/** As many lines as a store imports at once: 20, or fewer on an engine of fewer changes. */
const linesAtOnce = (maxChanges = 1_000): Array<PortableLink> =>
  Array.from({ length: Math.min(20, Math.floor(maxChanges / 24) - 1) }, (_, i) =>
    line(ChatId.make(`${30_000 + i}`), GameId.make(`${i % 7}`), i),
  );

const batches = (someLines: Array<PortableLink>): Cases<StoragePorts> => ({
  "importBatch deletes the stored progress of old imports, but not of fixtures": function* () {
    const links = yield* newLinkSteps;
    const [source, other] = [uniqueText(), uniqueText()];
    const lasting = `${fixtureSource}${uniqueText()}`;
    yield* links.savePosition(lasting, 4, 5);
    yield* links.load([], "keep", { source, position: 1 }, 5);
    yield* links.load([], "keep", { source: other, position: 2 }, 5 + progressKeptFor);
    expectEqual(yield* links.position(source), 1);
    yield* links.load([], "keep", { source: other, position: 3 }, 6 + progressKeptFor);
    expectEqual([yield* links.position(source), yield* links.position(other)], [0, 3]);
    expectEqual(yield* links.position(lasting), 4);
  },

  "an interrupted importBatch stores links, position and audit entry together, or none": function* () {
    const links = yield* newLinkSteps;
    const source = uniqueText();
    for (let yields = 0; yields < 8; yields++) {
      const before = yield* links.position(source);
      const position = before + 1;
      const lines = someLines.map((each) => ({ ...each, lastVerifiedAt: position }));
      const fiber = yield* Effect.forkChild(links.load(lines, "replace", { source, position }));
      for (let i = 0; i < yields; i++) yield* Effect.yieldNow;
      yield* Fiber.interrupt(fiber);
      const after = yield* links.position(source);
      const stored = yield* links.all;
      expectEqual(stored, after === 0 ? [] : someLines.map((each) => ({ ...each, lastVerifiedAt: after })));
      expectEqual((yield* links.entries).length, after, "The number of entries");
    }
  },

  "readers never see a partial batch": function* () {
    const links = yield* newLinkSteps;
    const fiber = yield* Effect.forkChild(links.load(someLines));
    while (fiber.pollUnsafe() === undefined) {
      const seen = (yield* links.all).length;
      expectThat(seen === 0 || seen === someLines.length, `a reader who sees ${seen} links sees none or all`);
      yield* Effect.yieldNow;
    }
    yield* Fiber.join(fiber);
    expectEqual(yield* links.all, someLines);
  },

  "an import from an unstorable source is a defect, and stores nothing": function* () {
    const links = yield* newLinkSteps;
    for (const source of unstorableTexts) {
      yield* expectDefect(links.load([line(ada, chess)], "keep", { source, position: 1 }));
    }
    expectEqual(yield* links.find(ada), null);
    expectEqual(yield* links.entries, []);
  },
});

const ended = { inserted: 0, replaced: 0, unchanged: 0, kept: 0, isEnded: true };

const cases: Cases<StoragePorts> = {
  "an account has one import, which a new one replaces once it is read, unless it is running": function* () {
    const { begin, find, save, one, global, account } = yield* makeSteps;
    const first = String(yield* begin());
    expectEqual([yield* begin(9), yield* find()], [null, null]);
    const second = String(yield* begin(10));
    expectEqual(yield* save(first, "ready"), false, "a lost upload");
    expectEqual(yield* save(second, "ready", one, 10), true);
    const refused = String(yield* begin(11));
    expectEqual((yield* find(11))?.id, second, "the import that waits");
    yield* (yield* UploadStore).remove(refused);
    expectEqual((yield* find(11))?.id, second, "after a refused upload");
    const third = String(yield* begin(12));
    expectEqual(yield* save(third, "ready", one, 12), true);
    expectEqual((yield* find(12))?.id, third);
    const late = String(yield* begin(13));
    expectEqual(yield* save(third, "running", one, 13), true);
    expectEqual(yield* save(late, "ready", one, 14), false, "beside a running import");
    expectEqual(yield* begin(1_000), null);
    expectEqual(yield* save(third, "over", one, 20), true);
    expectEqual(yield* find(20), {
      id: third,
      account: account.name,
      pid: global.pid,
      phase: "over",
      details: '{"a":"\\u0000"}',
      counts: { inserted: 0, replaced: 0, unchanged: 0, kept: 0 },
    });
    expectEqual(typeof (yield* begin(1_000)), "string");
    expectEqual(yield* save(second, "over", one, 1_000), false);
  },

  "concurrent begins: exactly one succeeds": function* () {
    const { begin } = yield* makeSteps;
    const begun = yield* Effect.replicateEffect(begin(), 10, atOnce);
    expectEqual(begun.filter((id) => id !== null).length, 1);
  },

  "the parts of a file are read as they were written, by any node, and part 0 begins the file anew":
    function* () {
      const { append, begin, read, remove, other } = yield* makeSteps;
      const id = String(yield* begin());
      const bytes = Array.from({ length: 256 }, (_, byte) => byte);
      expectEqual(yield* append(id, 0, bytes), true);
      expectEqual(yield* append(id, 1, [1]), true);
      expectEqual(yield* append(id, 0, [2], undefined, "changed"), true);
      expectEqual(yield* append(id, 2, [3], other), false);
      expectEqual([yield* read(id, 0), yield* read(id, 1), yield* read(id, 2)], [bytes, [1], null]);
      expectEqual(yield* append(id, 0, [4]), true);
      expectEqual([yield* read(id, 0), yield* read(id, 1)], [[4], null]);
      expectEqual(yield* read(id, 0, "changed"), [2]);
      expectEqual(yield* remove(id), true);
      expectEqual([yield* read(id, 0), yield* append(id, 1, [1])], [null, false]);
    },

  "an import starts once, and cannot be removed while it runs": function* () {
    const { begin, hold, find, remove, save, start } = yield* makeSteps;
    const id = String(yield* begin());
    expectEqual(yield* start(hold(id)), false);
    yield* save(id, "ready");
    const started = yield* Effect.replicateEffect(start(hold(id)), 10, atOnce);
    expectEqual(started.filter(Boolean).length, 1);
    expectEqual(yield* remove(id), false);
    expectEqual((yield* find())?.phase, "running");
    yield* save(id, "over");
    expectEqual([yield* start(hold(id)), yield* remove(id), yield* remove(id)], [false, true, false]);
  },

  "one node takes the running import of a dead node, and the dead one writes no more": function* () {
    const { append, find, links, load, running, save, take, other, one, global } = yield* makeSteps;
    // Other cases hold their imports until later times.
    const at = -1_000;
    const id = yield* running(at);
    const hold = { node: other, at: at + 9, until: at + 20 };
    expectEqual(yield* take(hold), Option.none());
    expectEqual(yield* load(id), { inserted: 1, replaced: 0, unchanged: 0, kept: 0 });
    const taken = yield* Effect.replicateEffect(take({ ...hold, at: at + 10 }), 5, atOnce);
    expectEqual(
      taken.filter(Option.isSome).map(({ value }) => value.id),
      [id],
    );
    expectEqual(yield* load(id, one, bob), ended);
    expectEqual(yield* links.findByChatId(global.pid, bob), Option.none());
    expectEqual([yield* save(id, "over", one), yield* append(id, 0, [1], one)], [false, false]);
    yield* load(id, other, ada, poker);
    expectEqual((yield* find())?.counts, { inserted: 1, replaced: 1, unchanged: 0, kept: 0 });
    expectEqual(yield* save(id, "over", other), true);
  },

  "deleteScope ends the running import of its scope, which stores nothing afterwards": function* () {
    const { begin, find, links, load, running, save, write, global } = yield* makeSteps;
    const id = yield* running();
    yield* links.deleteScope(write);
    expectEqual(yield* find(), null);
    expectEqual(yield* load(id), ended);
    expectEqual(yield* links.findByChatId(global.pid, ada), Option.none());
    const ready = String(yield* begin());
    yield* save(ready, "ready");
    yield* links.deleteScope(write);
    expectEqual((yield* find())?.id, ready);
  },

  "deleteScope removes the progress of the scope's files, and no other": function* () {
    const { importPosition, links, savePosition, write, global } = yield* makeSteps;
    const other = `file:${uniqueText()}:newest:1`;
    const own = ["keep:0", "newest:1"].map((name) => `${fileSources(global.pid).from}${name}`);
    const lasting = [other, `${fixtureSource}${global.pid}`];
    for (const source of [...own, ...lasting]) yield* savePosition(source, 1, 0);
    yield* links.deleteScope(write);
    expectEqual(yield* Effect.forEach([...own, ...lasting], importPosition), [0, 0, 1, 1]);
  },

  "beyond the room, the largest and oldest imports that are not running are removed": function* () {
    const { append, begin: beginAt, find, hold, save } = yield* makeSteps;
    const [small, other, running] = [yield* makeSteps, yield* makeSteps, yield* makeSteps];
    const id = yield* running.running(30);
    const little = String(yield* small.begin(20));
    yield* small.append(little, 0, [1]);
    yield* small.save(little, "ready", undefined, 20);
    const sixty = Array.from({ length: 60 }, () => 1);
    yield* running.append(id, 0, sixty);
    const [old, fresh] = [String(yield* beginAt(40)), String(yield* other.begin(50))];
    yield* append(old, 0, sixty);
    yield* other.append(fresh, 0, sixty);
    yield* save(old, "ready", undefined, 40);
    yield* other.save(fresh, "ready", undefined, 50);
    const { begin } = yield* UploadStore;
    expectEqual(
      yield* begin({ ...hold(uniqueText(), uniqueText(), 60), account: uniqueText(), room: 100 }),
      true,
    );
    const left = yield* Effect.forEach([small, other, running], (steps) => steps.find());
    expectEqual([yield* find(), ...left.map((one) => one?.id)], [null, little, fresh, id]);
    expectEqual(yield* append(old, 1, [1]), false);
    yield* running.save(id, "over");
  },

  "an import expires, and sweep removes it": function* () {
    const { begin, find, read, append, save, sweep } = yield* makeSteps;
    // The sweep must not remove imports of other cases, which expire later.
    const at = -1_000_000_000;
    const id = String(yield* begin(at));
    yield* append(id, 0, [1]);
    yield* save(id, "ready", undefined, at);
    expectEqual((yield* find(at + importKeptFor - 1))?.id, id);
    expectEqual(yield* find(at + importKeptFor), null);
    yield* sweep(at + importKeptFor - 1);
    expectEqual(yield* read(id, 0), [1]);
    yield* sweep(at + importKeptFor);
    expectEqual(yield* read(id, 0), null);
  },

  "an import that runs does not expire while no node works on it": function* () {
    const { append, begin, find, read, running, save, sweep } = yield* makeSteps;
    const at = -1_000_000_000;
    const late = at + 3 * importKeptFor;
    const id = yield* running(at);
    yield* append(id, 0, [1]);
    expectEqual([(yield* find(late))?.id, yield* begin(late)], [id, null]);
    yield* sweep(late);
    expectEqual([yield* read(id, 0), (yield* find(late))?.phase], [[1], "running"]);
    yield* save(id, "over", undefined, late);
    yield* sweep(late + importKeptFor);
    expectEqual(yield* read(id, 0), null);
  },
};

/** The cases of `ImportStore` and `UploadStore`. */
export const importCases = (maxChanges?: number): Cases<StoragePorts> => ({
  ...batches(linesAtOnce(maxChanges)),
  ...undos,
  ...cases,
});
