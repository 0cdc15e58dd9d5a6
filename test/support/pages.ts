import type { ResultAsync } from 'neverthrow';

interface PageAnswer<T> {
  readonly value: { readonly items: readonly T[]; readonly nextToken: string };
}

/** Every page of a list, from the one that `ask` gives without a token on: the names of its items. */
export async function pagesOf<T>(
  ask: (page: { readonly nextToken?: string }) => ResultAsync<PageAnswer<T>, unknown>,
  nameOf: (item: T) => string,
): Promise<readonly string[][]> {
  const pages: string[][] = [];
  for (let page: { readonly nextToken?: string } = {}; ; ) {
    const { items, nextToken } = (await ask(page))._unsafeUnwrap().value;
    pages.push(items.map(nameOf));
    if (nextToken === '') return pages;
    page = { nextToken };
  }
}
