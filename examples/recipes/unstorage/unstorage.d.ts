/** What this program uses of unstorage. */
export interface Driver {
  readonly name?: string;
}

export interface Storage<T> {
  getItem(key: string): Promise<T | null>;
  setItem(key: string, value: T): Promise<void>;
  removeItem(key: string): Promise<void>;
  getKeys(): Promise<Array<string>>;
  dispose(): Promise<void>;
}

export function createStorage<T>(options: { readonly driver: Driver }): Storage<T>;
