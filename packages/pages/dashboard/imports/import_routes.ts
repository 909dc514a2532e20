import {
  type ConflictChoice,
  type ImportFailure,
  type ImportFile,
  type ImportJob,
  makeImportJobs,
  type UnreadableLinkFile,
  type WordChoice,
  type WrongLines,
} from "@accountlink/core/imports";
import { Effect, Record, Stream } from "effect";
import { asEffect } from "../../page_requests.ts";
import { makeAccountNames } from "../audit/entry_names.ts";
import { makeCommunities, noCommunityPage } from "../communities/community.ts";
import { csvResponse } from "../csv_file.ts";
import type { AccountNames, PlatformNames } from "../look/names.ts";
import { type Answer, type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { importPath, paths } from "../paths.ts";
import type { AskedWord, ImportForm } from "./import_form.ts";
import {
  type ImportView,
  importDonePage,
  importFailedPage,
  importPreviewPage,
  importRunningPage,
  said,
  uploadPage,
} from "./import_pages.ts";
import { readUpload, type Upload } from "./import_upload.ts";
import { type UndoView, undoPage } from "./undo_pages.ts";

export const importRoutes = Effect.fnUntraced(function* ({ page, form, upload }: OwnerPages) {
  const communities = yield* makeCommunities;
  const jobs = yield* makeImportJobs;
  const namesIn = yield* makeAccountNames;

  const begin = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: ImportForm,
    problem: string | null,
  ) {
    const all = yield* communities.list(visitor);
    return all.length === 0
      ? noCommunityPage("imports", "Import links", " to import links into", visitor)
      : uploadPage(all, typed, visitor, { problem, undoable: yield* jobs.undoable(visitor.owner) });
  });

  const take = (visitor: OwnerVisitor) => {
    let typed = untouched;
    const receive = Effect.fnUntraced(function* (file: ImportFile) {
      const uploaded = yield* readUpload(visitor, file);
      typed = typedIn(uploaded);
      const { pid, onConflict, named, columns, words } = typed;
      const { scope } = yield* communities.find(visitor, pid);
      return {
        pid: scope.pid,
        fileName: uploaded.fileName,
        onConflict: choiceOf(onConflict),
        options: {
          ...Record.map(named, (column) => column || undefined),
          ignoreColumns: columns.map(({ name }) => name),
          verifiedWords: Object.fromEntries(
            words.flatMap(({ word, choice }) => (choice === null ? [] : [[word, choice]])),
          ),
        },
      };
    });
    return jobs.admit(visitor.owner, receive).pipe(
      Effect.map((job) => seeOther(importPath(job.id))),
      Effect.catchTag(["UnreadableLinkFile", "WrongLines"], (error) =>
        begin(visitor, withUnclear(typed, error), sentenceOf(error, visitor.platforms)),
      ),
      Effect.catchTag("WrongUpload", ({ reason }) => begin(visitor, untouched, reason)),
      Effect.catchTag("ImportRefused", ({ reason }) => begin(visitor, untouched, failures[reason])),
    );
  };

  const ofJob = (
    route: typeof page | typeof form,
    path: string,
    act: (job: ImportJob, visitor: OwnerVisitor) => Answer,
  ) =>
    route(`${importPath(":id")}${path}`, function* (visitor) {
      const job = yield* jobs.find(String(visitor.context.query["id"]), visitor.owner);
      return job === undefined ? seeOther(`${paths.imports}?gone=1`) : yield* asEffect(act(job, visitor));
    });

  /** Makes a route of the undo of an import. */
  const ofUndo = (
    route: typeof page | typeof form,
    act: (view: Omit<UndoView, "left">, visitor: OwnerVisitor) => Answer,
  ) =>
    route(importPath(":id", "undo"), function* (visitor) {
      const id = String(visitor.context.query["id"]);
      const found = (yield* jobs.undoable(visitor.owner)).find((one) => one.id === id);
      if (found === undefined) return seeOther(`${paths.imports}?gone=undo`);
      const community = yield* communities.find(visitor, found.pid);
      return yield* asEffect(act({ ...found, community }, visitor));
    });

  return [
    page(paths.imports, (visitor, query) => begin(visitor, untouched, goneTexts.get(query("gone")) ?? null)),
    upload(paths.imports, take),
    ofUndo(page, (view) => Effect.map(jobs.countUndoable(view.id), (left) => undoPage({ ...view, left }))),
    ofUndo(form, (view, { owner }) =>
      jobs.undo(owner, view).pipe(
        Effect.as(seeOther(importPath(view.id, "undo"))),
        Effect.catchTag("Conflict", () => Effect.succeed(seeOther(`${paths.imports}?gone=day`))),
      ),
    ),
    ofJob(page, "", function* (job, visitor) {
      const community = yield* communities.find(visitor, job.pid);
      const undo = (yield* jobs.undoable(visitor.owner)).find(({ id }) => id === job.id) ?? null;
      return pageOf({ ...job, community, undo }, yield* namesIn(job.changed.first), visitor);
    }),
    ofJob(page, "/changed.csv", ({ id }) =>
      Effect.succeed(csvResponse("changed", Stream.orDie(jobs.read(id, "changed")))),
    ),
    ofJob(page, "/left_out.csv", ({ id }) =>
      Effect.succeed(csvResponse("left_out", Stream.orDie(jobs.read(id, "left_out")))),
    ),
    ofJob(form, "/start", (job) => Effect.as(jobs.start(job), seeOther(importPath(job.id)))),
    ofJob(form, "/drop", function* (job) {
      return seeOther((yield* jobs.forget(job)) ? paths.imports : importPath(job.id));
    }),
  ];
});

const gone =
  "The import is not stored any more. It was an hour old, another upload replaced it, or its list was deleted. Upload the file again: nothing is stored twice.";

const goneTexts: ReadonlyMap<string, string> = new Map([
  ["1", gone],
  [
    "day",
    "Imports and their undos changed three times as many links in a day as your plan holds. Undo it tomorrow.",
  ],
  [
    "undo",
    "The import can't be undone: it was more than a day ago, it is still running, or nothing of it is left.",
  ],
]);

const failures: Readonly<Record<ImportFailure, string>> = {
  busy: "Another file of your account is being imported. Wait until it is done.",
  removed: "Many files are being uploaded at the moment, and yours was removed. Try again in a minute.",
  storage: "The storage did not answer.",
};

const untouched: ImportForm = {
  pid: "",
  onConflict: "newest",
  named: { chatColumn: "", gameColumn: "", timeColumn: "", verifiedColumn: "" },
  columns: [],
  words: [],
};

const typedIn = ({ fields, ignoreColumns }: Upload): ImportForm => {
  const text = (name: string) => fields.get(name) ?? "";
  return {
    pid: text("pid"),
    onConflict: choiceOf(text("onConflict")),
    named: Record.map(untouched.named, (_, name) => text(name).trim().slice(0, 100)),
    columns: ignoreColumns.map((name) => ({ name, isIgnored: true })),
    words: [...fields].flatMap(([name, word]) => {
      const [, index] = /^word(\d+)$/.exec(name) ?? [];
      const choice = choices.find((each) => each === fields.get(`meaning${index}`)) ?? null;
      return index === undefined || choice === null ? [] : [{ word, place: null, choice }];
    }),
  };
};

const choices: ReadonlyArray<WordChoice> = ["yes", "no", "skip"];

const withUnclear = (typed: ImportForm, error: UnreadableLinkFile | WrongLines): ImportForm => {
  if (error._tag === "WrongLines") return typed;
  const { unclearColumns = [], oddWords = [] } = error;
  return {
    ...typed,
    columns: [...typed.columns, ...unclearColumns.map((name) => ({ name, isIgnored: false }))],
    words: [
      ...typed.words,
      ...oddWords.map(({ word, ...place }): AskedWord => ({ word, place, choice: null })),
    ],
  };
};

const choiceOf = (text: string): ConflictChoice => (text === "keep" || text === "replace" ? text : "newest");

const sentenceOf = (error: UnreadableLinkFile | WrongLines, platforms: PlatformNames): string => {
  if (error._tag === "UnreadableLinkFile") {
    const { line, reason } = error;
    if (error.oddWords !== undefined) return `Line ${line}: ${reason}. ${oddWord}`;
    if (error.unclearColumns !== undefined) return `Line ${line}: ${reason}. ${unclear}`;
    // A reason that starts with "the file" concerns the whole file, so a line number would mislead.
    return reason.startsWith("the file ") ? `T${reason.slice(1)}.` : `Line ${line}: ${reason}.`;
  }
  const [first] = error.problems;
  return `No row of the file can be imported. Line ${first?.line}: ${said(first?.problem ?? "", platforms)}.`;
};

const oddWord = "Say what each word means, or ignore the column, and choose the file again.";

const unclear =
  "Name the column with the time or the verification, tick what does not matter, or change the file, and choose it again.";

const pageOf = (job: ImportJob & ImportView, names: AccountNames, visitor: OwnerVisitor): Page => {
  const { state } = job;
  switch (state._tag) {
    case "Preview":
      return importPreviewPage(job, state.outcome, state.sample, names, visitor);
    case "Running":
      return importRunningPage(job, state.progress);
    case "Done":
      return importDonePage(job, state.outcome, names, visitor);
    case "Failed":
      return importFailedPage(job, failures[state.reason]);
  }
};
