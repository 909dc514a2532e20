import type { ConflictChoice, UnreadableLinkFile, WrongLines } from "@accountlink/core/links";
import { HttpSettings, type UploadFolder } from "@accountlink/http/site";
import { Effect, Stream } from "effect";
import { makeCommunities } from "../communities/communities_routes.ts";
import { type Fields, type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import { type Page } from "../page.ts";
import { csvResponse } from "../page_response.ts";
import { importPath, paths } from "../paths.ts";
import { type ImportJob, makeImportJobs } from "./import_jobs.ts";
import {
  type ImportForm,
  importDonePage,
  importFailedPage,
  importPreviewPage,
  importRunningPage,
  noUploadPage,
  uploadPage,
} from "./import_pages.ts";
import { readUpload, type Upload, type WrongUpload } from "./import_upload.ts";

export const importRoutes = Effect.fnUntraced(function* (pages: OwnerPages) {
  const { uploads } = yield* HttpSettings;
  return uploads === undefined
    ? [pages.page(paths.imports, () => Effect.succeed(noUploadPage("no_folder")))]
    : yield* routesWith(pages, uploads);
});

const routesWith = Effect.fnUntraced(function* ({ page, form, upload }: OwnerPages, folder: UploadFolder) {
  const communities = yield* makeCommunities;
  const jobs = yield* makeImportJobs(folder);

  const begin = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: ImportForm,
    problem: string | null,
  ) {
    const all = yield* communities.list(visitor);
    return all.length === 0 ? noUploadPage("no_community") : uploadPage(all, typed, visitor, problem);
  });

  const look = Effect.fnUntraced(function* (visitor: OwnerVisitor, { fields, file, fileName }: Upload) {
    const typed = typedIn((name) => fields.get(name) ?? "");
    const community = yield* communities.find(visitor, typed.pid);
    const job = yield* jobs.preview({
      owner: visitor.owner,
      community,
      fileName,
      file,
      onConflict: choiceOf(typed.onConflict),
      options: { chatColumn: typed.chatColumn || undefined, gameColumn: typed.gameColumn || undefined },
    });
    return seeOther(importPath(job.id));
  });

  const take = (visitor: OwnerVisitor) =>
    Effect.flatMap(readUpload(visitor, folder), (uploaded) => {
      const typed = typedIn((name) => uploaded.fields.get(name) ?? "");
      const refuse = (error: UnreadableLinkFile | WrongLines) => begin(visitor, typed, sentenceOf(error));
      return look(visitor, uploaded).pipe(
        Effect.onError(() => uploaded.file.remove),
        Effect.catchTag(["UnreadableLinkFile", "WrongLines"], refuse),
      );
    }).pipe(Effect.catchTag("WrongUpload", ({ reason }: WrongUpload) => begin(visitor, untouched, reason)));

  /** Sends whoever asks for an import that is not there to a new one. */
  const withJob =
    <A, E, R>(act: (job: ImportJob, visitor: OwnerVisitor) => Effect.Effect<A, E, R>) =>
    (visitor: OwnerVisitor) => {
      const { id } = visitor.context.query;
      const job = typeof id === "string" ? jobs.find(id, visitor.owner) : undefined;
      return job === undefined ? Effect.succeed(seeOther(`${paths.imports}?gone=1`)) : act(job, visitor);
    };

  return [
    page(paths.imports, (visitor, query) => begin(visitor, untouched, query("gone") === "1" ? gone : null)),
    upload(paths.imports, take),
    page(
      importPath(":id"),
      withJob((job, visitor) => Effect.succeed(pageOf(job, visitor))),
    ),
    page(`${importPath(":id")}/left_out.csv`, withJob(leftOutFile)),
    form(
      `${importPath(":id")}/start`,
      withJob((job) => Effect.as(jobs.start(job), seeOther(importPath(job.id)))),
    ),
    form(
      `${importPath(":id")}/drop`,
      withJob((job) =>
        Effect.as(
          job.state._tag === "Running" ? Effect.void : jobs.forget(job),
          seeOther(job.state._tag === "Running" ? importPath(job.id) : paths.imports),
        ),
      ),
    ),
  ];
});

const leftOutFile = (job: ImportJob) =>
  Effect.succeed(
    job.leftOut === null
      ? seeOther(importPath(job.id))
      : csvResponse("left_out", Stream.orDie(job.leftOut.read)),
  );

const gone = "This server does not know the import any more. Upload the file again: nothing is stored twice.";

const untouched: ImportForm = { pid: "", onConflict: "newest", chatColumn: "", gameColumn: "" };

const typedIn = (fields: Fields): ImportForm => ({
  pid: fields("pid"),
  onConflict: choiceOf(fields("onConflict")),
  chatColumn: fields("chatColumn").trim().slice(0, 100),
  gameColumn: fields("gameColumn").trim().slice(0, 100),
});

const choiceOf = (text: string): ConflictChoice => (text === "keep" || text === "replace" ? text : "newest");

const sentenceOf = (error: UnreadableLinkFile | WrongLines): string => {
  if (error._tag === "UnreadableLinkFile") return `Line ${error.line}: ${error.reason}.`;
  const [first] = error.problems;
  return `No row of the file can be imported. Line ${first?.line}: ${first?.problem}.`;
};

const pageOf = (job: ImportJob, visitor: OwnerVisitor): Page => {
  const { state } = job;
  switch (state._tag) {
    case "Preview":
      return importPreviewPage(job, state.outcome, state.sample, visitor);
    case "Running":
      return importRunningPage(job, state.progress);
    case "Done":
      return importDonePage(job, state.outcome, visitor);
    case "Failed":
      return importFailedPage(job, state.reason, visitor);
  }
};
