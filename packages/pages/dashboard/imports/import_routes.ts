import { guildOf } from "@accountlink/core";
import {
  type ConflictChoice,
  type ImportFailure,
  type ImportFile,
  type ImportJob,
  makeImportJobs,
  type UnclearTimeChoice,
  type UnreadableLinkFile,
  type WordChoice,
  type WrongLines,
} from "@accountlink/core/imports";
import { Profiles } from "@accountlink/core/platforms";
import { Effect, Record } from "effect";
import { type Html, html } from "../../html.ts";
import { asEffect } from "../../page_requests.ts";
import { makeAccountNames } from "../audit/entry_names.ts";
import { makeCommunities, noCommunityPage } from "../communities/community.ts";
import { openForm, withBot } from "../communities/first_steps.ts";
import { csvStream } from "../csv_file.ts";
import { type AccountNames, guildText, platforms } from "../look/names.ts";
import { say, tags } from "../look/say.ts";
import {
  type Answer,
  makeGuildChoice,
  type OwnerPages,
  type OwnerVisitor,
  seeOther,
} from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { importPath, paths } from "../paths.ts";
import { type FileMembers, makeFileMembers, readingHtml } from "./file_members.ts";
import type { AskedWord, ImportForm } from "./import_form.ts";
import {
  gameColumnName,
  type ImportView,
  importDonePage,
  importFailedPage,
  importPreviewPage,
  importRunningPage,
  uploadPage,
} from "./import_pages.ts";
import { readUpload, type UploadFields } from "./import_upload.ts";
import { rowHtml } from "./left_out_rows.ts";
import { askPage, type UndoView, undoPage } from "./undo_pages.ts";

export const importRoutes = Effect.fnUntraced(function* ({ page, form, upload, stillMay }: OwnerPages) {
  const communities = yield* makeCommunities;
  const jobs = yield* makeImportJobs;
  const namesIn = yield* makeAccountNames;
  const guildsOf = yield* makeGuildChoice;
  const profiles = yield* Profiles;
  const membersOf = yield* makeFileMembers;

  /** Without a list to import into, offers to set up the communities that have the bot. */
  const beforeSetUp = Effect.fnUntraced(function* (visitor: OwnerVisitor) {
    const title = say("import.title");
    const ready = withBot({ guilds: yield* guildsOf(visitor) });
    if (ready.length === 0) return noCommunityPage("imports", title, say("import.no_community"));
    return {
      title,
      section: "imports",
      content: html`${ready.map(
        (guild) =>
          html`<p>${say("import.not_set_up", { community: guildText(guild.guildId, guild.name) })}</p>${openForm(guild)}`,
      )}`,
    } satisfies Page;
  });

  const begin = Effect.fnUntraced(function* (visitor: OwnerVisitor, typed: ImportForm, problem: Html | null) {
    const all = yield* communities.list(visitor);
    if (all.length === 0) return yield* beforeSetUp(visitor);
    return uploadPage(all, typed, { problem, undoable: yield* jobs.undoable(visitor.owner) });
  });

  const take = (visitor: OwnerVisitor) => {
    let typed = untouched;
    const onFields = (fields: UploadFields): void => void (typed = typedIn(fields));
    const receive = Effect.fnUntraced(function* (file: ImportFile) {
      const uploaded = yield* readUpload(visitor, file, { onFields });
      onFields(uploaded);
      const { pid, onConflict, named, columns, words, times } = typed;
      // The sender may have lost the role, or the list, while a slow file arrived.
      const { owner } = yield* stillMay(paths.imports, visitor);
      const { scope } = yield* communities.find({ ...visitor, owner }, pid);
      return {
        pid: scope.pid,
        fileName: uploaded.fileName,
        onConflict: choiceOf(onConflict),
        options: {
          ...Record.map(named, (column) => column || undefined),
          // Rows of other guilds do not belong into a guild's own list.
          guildId: guildOf(scope) ?? undefined,
          isGuildOptional: true,
          ignoreColumns: columns.map(({ name }) => name),
          verifiedWords: Object.fromEntries(
            words.flatMap(({ word, choice }) => (choice === null ? [] : [[word, choice]])),
          ),
          unclearTimes: times?.choice ?? undefined,
        },
      };
    });
    const again = (problem: Html, shown = typed) => Effect.succeed<Answer>(begin(visitor, shown, problem));
    return jobs.admit(visitor.owner, receive).pipe(
      Effect.map((job): Answer => Effect.succeed(seeOther(importPath(job.id)))),
      Effect.catchTag(["UnreadableLinkFile", "WrongLines"], (error) =>
        again(sentenceOf(error), withUnclear(typed, error)),
      ),
      Effect.catchTag("WrongUpload", ({ reason }) => again(say(`import.upload.${reason}`))),
      Effect.catchTag(
        "ImportRefused",
        Effect.fnUntraced(function* (refused) {
          // While another import is at work, nothing of the upload was read.
          if (typed === untouched) {
            const unread = { append: () => Effect.fail(refused), end: Effect.void };
            yield* Effect.ignore(readUpload(visitor, unread, { onFields }));
          }
          return yield* again(failureText(refused.reason));
        }),
      ),
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

  const ofUndo = (route: typeof page | typeof form, act: (view: UndoView, visitor: OwnerVisitor) => Answer) =>
    route(importPath(":id", "undo"), function* (visitor) {
      const id = String(visitor.context.query["id"]);
      const found = (yield* jobs.undoable(visitor.owner)).find((one) => one.id === id);
      if (found === undefined || (found.undone === null && !(yield* jobs.isLeftToUndo(found)))) {
        return seeOther(`${paths.imports}?gone=undo`);
      }
      const community = yield* communities.find(visitor, found.pid);
      return yield* asEffect(act({ ...found, community }, visitor));
    });

  return [
    page(paths.imports, (visitor, query) => begin(visitor, untouched, goneTexts.get(query("gone")) ?? null)),
    upload(paths.imports, take),
    ofUndo(page, function* (view, { owner }) {
      const changesLeft = yield* jobs.changesLeft(owner);
      if (view.undone !== null) return undoPage(view, view.undone, changesLeft === 0);
      const preview = yield* jobs.previewUndo(view);
      const waits = changesLeft < preview.removed + preview.restored;
      const lost = yield* Effect.forEach(
        preview.lost,
        Effect.fnUntraced(function* ({ guildId, members }) {
          const present = yield* membersOf(guildId, members);
          const guild = yield* profiles.guild(guildId);
          const community = guildText(guildId, guild?.name);
          if (present !== null && "reading" in present) return readingHtml(community, present.reading);
          const count = present !== null && "found" in present ? present.found : members.length;
          return count === 0 ? html`` : html`<p>${say("undo.lost", { community, count, b: tags.b })}</p>`;
        }),
      );
      return askPage(view, { ...preview, lost, waits });
    }),
    ofUndo(form, (view, { owner }) =>
      jobs.undo(owner, view).pipe(
        // The page of the undo says that it goes on later.
        Effect.catchTag("Conflict", () => Effect.void),
        Effect.as(seeOther(importPath(view.id, "undo"))),
      ),
    ),
    ofJob(page, "", function* (job, visitor) {
      const community = yield* communities.find(visitor, job.pid);
      const undo = (yield* jobs.undoable(visitor.owner)).find(({ id }) => id === job.id) ?? null;
      const { state } = job;
      const members =
        state._tag === "Preview" ? yield* membersOf(guildOf(community.scope), state.chatIds ?? []) : null;
      return pageOf({ ...job, community, undo, members }, yield* namesIn(job.changed.first));
    }),
    ...(["changed", "left_out"] as const).map((file) =>
      ofJob(page, `/${file}.csv`, ({ id, pid }, visitor) =>
        Effect.succeed(csvStream(file, jobs.read(id, file), stillMay(paths.imports, visitor, [pid]))),
      ),
    ),
    ofJob(form, "/start", (job, { owner }) =>
      Effect.as(jobs.start(job, owner), seeOther(importPath(job.id))),
    ),
    ofJob(form, "/drop", function* (job) {
      return seeOther((yield* jobs.forget(job)) ? paths.imports : importPath(job.id));
    }),
  ];
});

/** Why there is nothing to show, by the query of the page. */
const goneTexts = new Map([
  ["1", say("import.gone")],
  ["undo", say("import.gone.undo")],
]);

const failureText = (reason: ImportFailure): Html => say(`import.failed.${reason}`);

const untouched: ImportForm = {
  pid: "",
  onConflict: "newest",
  named: { chatColumn: "", gameColumn: "", timeColumn: "", verifiedColumn: "" },
  columns: [],
  words: [],
  times: null,
};

const typedIn = ({ fields, ignoreColumns }: UploadFields): ImportForm => {
  const text = (name: string) => fields.get(name) ?? "";
  const timeChoice = timeChoices.find((each) => each === text("unclearTimes"));
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
    times: timeChoice === undefined ? null : { unclear: [], choice: timeChoice },
  };
};

const choices: ReadonlyArray<WordChoice> = ["yes", "no", "skip"];
const timeChoices: ReadonlyArray<UnclearTimeChoice> = ["day-first", "month-first", "unknown"];

const withUnclear = (typed: ImportForm, error: UnreadableLinkFile | WrongLines): ImportForm => {
  if (error._tag === "WrongLines") return typed;
  const { unclearColumns = [], oddWords = [], unclearTimes = [] } = error;
  return {
    ...typed,
    columns: [...typed.columns, ...unclearColumns.map((name) => ({ name, isIgnored: false }))],
    words: [
      ...typed.words,
      ...oddWords.map(({ word, ...place }): AskedWord => ({ word, place, choice: null })),
    ],
    times: unclearTimes.length === 0 ? typed.times : { unclear: unclearTimes, choice: null },
  };
};

const choiceOf = (text: string): ConflictChoice => (text === "keep" || text === "replace" ? text : "newest");

const sentenceOf = (error: UnreadableLinkFile | WrongLines): Html => {
  if (error._tag === "UnreadableLinkFile") {
    const { said } = error;
    const line = String(error.line);
    switch (said.is) {
      case "file":
        return say(`import.file.${said.kind}`, { name: gameColumnName });
      case "broken":
        return say(`import.broken.${said.what}`, { line });
      case "header":
        return say(`import.header.${said.lacks}`, {
          line,
          header: tags.code(html`${said.header}`),
          name: gameColumnName,
          ...platforms,
        });
      case "columns":
        return unclear(error, say("import.unclear.columns", { columns: said.columns.join(", ") }));
      default:
        return unclear(error, say(`import.unclear.${said.is}`, said));
    }
  }
  const [first] = error.problems;
  if (error.isRounded === true)
    return say("import.rounded", { count: error.count, platform: platforms.chat });
  return first === undefined
    ? say("import.nothing")
    : say("import.no_row", { line: String(first.line), problem: rowHtml(first) });
};

const unclear = ({ line, oddWords, unclearTimes }: UnreadableLinkFile, problem: Html): Html =>
  say(oddWords === undefined && unclearTimes === undefined ? "import.line_unclear" : "import.line_word", {
    line: String(line),
    problem,
  });

const pageOf = (
  job: ImportJob & ImportView & { readonly members: FileMembers | null },
  names: AccountNames,
): Page => {
  const { state, members } = job;
  switch (state._tag) {
    case "Preview":
      return importPreviewPage(job, state.outcome, { ...state, members }, names);
    case "Running":
      return importRunningPage(job, state.progress);
    case "Done":
      return importDonePage(job, state.outcome, names);
    case "Failed":
      return importFailedPage(job, failureText(state.reason));
  }
};
