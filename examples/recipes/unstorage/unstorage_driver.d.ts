import type { Driver } from "./unstorage.d.ts";

export default function driver(options?: { readonly base?: string }): Driver;
