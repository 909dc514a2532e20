/** The search of the site, in the browser. It also works on pages opened from a disk. */
const { root } = document.documentElement.dataset;
const query = document.querySelector("#query");
const results = document.querySelector("#results");

const index = new MiniSearch({
  fields: ["title", "page", "text"],
  storeFields: ["title", "page", "url"],
  // Keeps an error code as one word.
  tokenize: (text) => text.match(/[\p{L}\p{N}_]+/gu) ?? [],
  searchOptions: {
    boost: { title: 6, page: 2 },
    prefix: true,
    fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    combineWith: "AND",
  },
});
index.addAll(searchDocuments);

const show = () => {
  const found = index.search(query.value).slice(0, 12);
  results.replaceChildren(
    ...found.map(({ title, page, url }) => {
      const link = document.createElement("a");
      link.href = root + url;
      link.textContent = title;
      const where = document.createElement("small");
      where.textContent = page;
      const item = document.createElement("li");
      item.append(link, " ", where);
      return item;
    }),
  );
  if (found.length === 0 && query.value.trim() !== "") results.textContent = "Nothing found";
  results.hidden = query.value.trim() === "";
};

query.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    query.value = "";
    show();
  } else if (event.key === "/" && document.activeElement !== query) {
    event.preventDefault();
    query.focus();
  } else if (event.key === "Enter" && document.activeElement === query) {
    results.querySelector("a")?.click();
  }
});
