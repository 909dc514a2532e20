import { SessionSettings } from "@accountlink/core";
import { noSettings } from "@accountlink/core/keys";
import { basePathOf, HttpSettings } from "@accountlink/http/site";
import { Effect } from "effect";
import { documentBelow } from "../../base_path.ts";
import { readerOf } from "../../page_render.ts";
import { PageSettings } from "../../page_settings.ts";
import type { OwnerPages } from "../owner_pages.ts";
import { paths } from "../paths.ts";
import { previewPage } from "./preview_page.ts";
import { previewDocument, previewGroups, stateOf } from "./preview_states.ts";

export const previewRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const settings = yield* PageSettings;
  const basePath = basePathOf(yield* HttpSettings);
  const { sightingRetention } = yield* SessionSettings;
  return [
    page(paths.preview, ({ context: { language }, owner: { account, requestId } }, query) => {
      const groups = previewGroups(language);
      const shown = stateOf(groups, query("state"));
      const document = previewDocument(
        shown.name,
        { ...noSettings, displayName: account.name },
        { ...readerOf(settings, language), sightingRetention },
        requestId,
      );
      return Effect.succeed(previewPage(groups, shown, documentBelow(basePath, document)));
    }),
  ];
});
