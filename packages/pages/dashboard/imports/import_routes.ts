import type { ConflictChoice, UnreadableLinkFile, WrongLines } from "@accountlink/core/links";
import { HttpSettings, type UploadFolder } from "@accountlink/http/for_pages";
import { Effect, Record, Stream } from "effect";
import { makeAccountNames } from "../audit/entry_names.ts";
import { makeCommunities, noCommunityPage } from "../communities/community.ts";
import { csvResponse } from "../csv_file.ts";
import type { AccountNames } from "../look/names.ts";
import { type Answer, type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import type { Page, PlatformNames } from "../page.ts";
import { importPath, paths } from "../paths.ts";
import { type ImportJob, makeImportJobs } from "./import_jobs.ts";
import {
  type ImportForm,
  importDonePage,
  importFailedPage,
  importPreviewPage,
  importRunningPage,
  noUploadPage,
  said,
  uploadPage,
} from "./import_pages.ts";
import { readUpload, type Upload } from "./import_upload.ts";

export const importRoutes = Effect.fnUntraced(function* (pages: OwnerPages) {
  const { uploads } = yield* HttpSettings;
  return uploads === undefined
    ? [pages.page(paths.imports, () => Effect.succeed(noUploadPage))]
    : yield* routesWith(pages, uploads);
});

const routesWith = Effect.fnUntraced(function* ({ page, form, upload }: OwnerPages, folder: UploadFolder) {
  const communities = yield* makeCommunities;
  const jobs = yield* makeImportJobs(folder);
  const namesIn = yield* makeAccountNames;

  const begin = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: ImportForm,
    problem: string | null,
  ) {
    const all = yield* communities.list(visitor);
    return all.length === 0
      ? noCommunityPage("imports", "Import links", " to import links into", visitor)
      : uploadPage(all, typed, visitor, problem);
  });

  const look = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    { file, fileName }: Upload,
    { pid, onConflict, named, columns }: ImportForm,
  ) {
    const community = yield* communities.find(visitor, pid);
    const job = yield* jobs.preview({
      owner: visitor.owner,
      community,
      fileName,
      file,
      onConflict: choiceOf(onConflict),
      options: {
        ...Record.map(named, (column) => column || undefined),
        ignoreColumns: columns.map(({ name }) => name),
      },
    });
    return seeOther(importPath(job.id));
  });

  const take = (visitor: OwnerVisitor) =>
    Effect.flatMap(readUpload(visitor, jobs.uploads), (uploaded) => {
      const typed = typedIn(uploaded);
      const refuse = (error: UnreadableLinkFile | WrongLines) =>
        begin(visitor, withUnclear(typed, error), sentenceOf(error, visitor.platforms));
      return look(visitor, uploaded, typed).pipe(
        Effect.onError(() => uploaded.file.remove),
        Effect.catchTag(["UnreadableLinkFile", "WrongLines"], refuse),
      );
    }).pipe(
      (taken) => jobs.admit(visitor.owner, taken),
      Effect.catchTag("WrongUpload", ({ reason }) => begin(visitor, untouched, reason)),
    );

  const ofJob = (
    route: typeof page | typeof form,
    path: string,
    act: (job: ImportJob, visitor: OwnerVisitor) => Answer,
  ) =>
    route(`${importPath(":id")}${path}`, (visitor) => {
      const job = jobs.find(String(visitor.context.query["id"]), visitor.owner);
      return job === undefined ? Effect.succeed(seeOther(`${paths.imports}?gone=1`)) : act(job, visitor);
    });

  return [
    page(paths.imports, (visitor, query) => begin(visitor, untouched, query("gone") === "1" ? gone : null)),
    upload(paths.imports, take),
    ofJob(page, "", function* (job, visitor) {
      return pageOf(job, yield* namesIn(job.changed.first), visitor);
    }),
    ofJob(page, "/changed.csv", (job) =>
      Effect.succeed(csvResponse("changed", Stream.orDie(job.changed.file.read))),
    ),
    ofJob(page, "/left_out.csv", (job) =>
      Effect.succeed(
        job.leftOut === null
          ? seeOther(importPath(job.id))
          : csvResponse("left_out", Stream.orDie(job.leftOut.read)),
      ),
    ),
    ofJob(form, "/start", (job) => Effect.as(jobs.start(job), seeOther(importPath(job.id)))),
    ofJob(form, "/drop", function* (job) {
      if (job.state._tag === "Running") return seeOther(importPath(job.id));
      yield* jobs.forget(job);
      return seeOther(paths.imports);
    }),
  ];
});

const gone = "This server does not know the import any more. Upload the file again: nothing is stored twice.";

const untouched: ImportForm = {
  pid: "",
  onConflict: "newest",
  named: { chatColumn: "", gameColumn: "", timeColumn: "", verifiedColumn: "" },
  columns: [],
};

const typedIn = ({ fields, ignoreColumns }: Upload): ImportForm => {
  const text = (name: string) => fields.get(name) ?? "";
  return {
    pid: text("pid"),
    onConflict: choiceOf(text("onConflict")),
    named: Record.map(untouched.named, (_, name) => text(name).trim().slice(0, 100)),
    columns: ignoreColumns.map((name) => ({ name, isIgnored: true })),
  };
};

const withUnclear = (typed: ImportForm, error: UnreadableLinkFile | WrongLines): ImportForm => {
  const unclear = error._tag === "UnreadableLinkFile" ? (error.unclearColumns ?? []) : [];
  return { ...typed, columns: [...typed.columns, ...unclear.map((name) => ({ name, isIgnored: false }))] };
};

const choiceOf = (text: string): ConflictChoice => (text === "keep" || text === "replace" ? text : "newest");

const sentenceOf = (error: UnreadableLinkFile | WrongLines, platforms: PlatformNames): string => {
  if (error._tag === "UnreadableLinkFile") {
    const { line, reason } = error;
    if (error.unclearColumns !== undefined) return `Line ${line}: ${reason}. ${unclear}`;
    // A reason that starts with "the file" concerns the whole file, so a line number would mislead.
    return reason.startsWith("the file ") ? `T${reason.slice(1)}.` : `Line ${line}: ${reason}.`;
  }
  const [first] = error.problems;
  return `No row of the file can be imported. Line ${first?.line}: ${said(first?.problem ?? "", platforms)}.`;
};

const unclear =
  "Name the column with the time or the verification, tick what does not matter, or change the file, and choose it again.";

const pageOf = (job: ImportJob, names: AccountNames, visitor: OwnerVisitor): Page => {
  const { state } = job;
  switch (state._tag) {
    case "Preview":
      return importPreviewPage(job, state.outcome, state.sample, names, visitor);
    case "Running":
      return importRunningPage(job, state.progress);
    case "Done":
      return importDonePage(job, state.outcome, names, visitor);
    case "Failed":
      return importFailedPage(job, state.reason);
  }
};
