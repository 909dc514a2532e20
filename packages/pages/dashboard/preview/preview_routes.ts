import { SessionSettings } from "@accountlink/core";
import { noSettings } from "@accountlink/core/keys";
import { basePathOf, HttpSettings } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { documentBelow } from "../../base_path.ts";
import { readerOf } from "../../page_render.ts";
import { PageSettings } from "../../page_settings.ts";
import { makeOwnerName, type OwnerPages } from "../owner_pages.ts";
import { paths } from "../paths.ts";
import { previewPage } from "./preview_page.ts";
import { previewDocument, previewGroups, stateOf } from "./preview_states.ts";

export const previewRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const ownerName = yield* makeOwnerName;
  const settings = yield* PageSettings;
  const basePath = basePathOf(yield* HttpSettings);
  const { sightingRetention } = yield* SessionSettings;
  return [
    page(
      paths.preview,
      Effect.fnUntraced(function* ({ context: { language }, owner }, query) {
        const groups = previewGroups(language);
        const shown = stateOf(groups, query("state"));
        const document = previewDocument(
          shown.name,
          { ...noSettings, displayName: yield* ownerName(owner) },
          { ...readerOf(settings, language), sightingRetention },
          owner.requestId,
        );
        return previewPage(groups, shown, documentBelow(basePath, document));
      }),
    ),
  ];
});
