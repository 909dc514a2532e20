/** The frame of every page: navigation, search and content. All links are relative, so that pages open from a disk. */
import { posix } from "node:path";
import { escape } from "./markdown.ts";

export interface Page {
  /** Relative to the site's root. */
  readonly path: string;
  readonly title: string;
  readonly content: string;
}

export interface NavigationGroup {
  readonly title: string;
  readonly pages: ReadonlyArray<Pick<Page, "path" | "title">>;
}

export const pageHtml = (
  { path, title, content }: Page,
  navigation: ReadonlyArray<NavigationGroup>,
): string => {
  const up = posix.relative(posix.dirname(path), ".");
  const root = up === "" ? "" : `${up}/`;
  const groups = navigation.map(
    (group) => `<details${group.pages.some((page) => page.path === path) ? " open" : ""}>
<summary>${escape(group.title)}</summary>
<ul>${group.pages
      .map(
        (page) =>
          `<li><a href="${root}${page.path}"${page.path === path ? ' aria-current="page"' : ""}>${escape(page.title)}</a></li>`,
      )
      .join("\n")}</ul>
</details>`,
  );
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · accountlink</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}style.css">
<script src="${root}minisearch.js" defer></script>
<script src="${root}search_index.js" defer></script>
<script src="${root}search.js" defer></script>
</head>
<body>
<header>
<a class="name" href="${root}index.html">accountlink</a>
<search><label class="unseen" for="query">Search</label>
<input id="query" type="search" placeholder="Search" autocomplete="off">
<ol id="results" hidden></ol></search>
<a class="to-pages" href="#pages">Pages</a>
</header>
<main>
${content}
</main>
<nav id="pages" aria-label="Pages">
${groups.join("\n")}
</nav>
</body>
</html>
`;
};
