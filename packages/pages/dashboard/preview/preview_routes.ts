import { SessionSettings } from "@accountlink/core";
import { noSettings } from "@accountlink/core/keys";
import { basePathOf, HttpSettings } from "@accountlink/http/site";
import { Effect } from "effect";
import { documentBelow } from "../../base_path.ts";
import { PageSettings } from "../../page_settings.ts";
import type { OwnerPages } from "../owner_pages.ts";
import { paths } from "../paths.ts";
import { previewPage } from "./preview_page.ts";
import { previewDocument, previewGroups, stateOf } from "./preview_states.ts";

export const previewRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const settings = yield* PageSettings;
  const basePath = basePathOf(yield* HttpSettings);
  const { sightingRetention } = yield* SessionSettings;
  const terms = { ...settings, sightingRetention };
  return [
    page(paths.preview, ({ owner: { account, requestId } }, query) => {
      const shown = stateOf(query("state"));
      const document = previewDocument(
        shown.name,
        { ...noSettings, displayName: account.name },
        settings,
        terms,
        requestId,
      );
      return Effect.succeed(previewPage(previewGroups, shown, documentBelow(basePath, document)));
    }),
  ];
});
