/** The communities that ask users for their accounts. @internal */
export * from "./asking_name.ts";
