// biome-ignore-all format: `vitest -u` writes this from the files of the folder, see `dashboard_messages_test.ts`.
/** Reads the messages of each language. */
export const ofDashboard = {
  en: () => import("./en.json", { with: { type: "json" } }),
  de: () => import("./de.json", { with: { type: "json" } }),
  es: () => import("./es.json", { with: { type: "json" } }),
  fr: () => import("./fr.json", { with: { type: "json" } }),
  "pt-BR": () => import("./pt-BR.json", { with: { type: "json" } }),
  ja: () => import("./ja.json", { with: { type: "json" } }),
};
