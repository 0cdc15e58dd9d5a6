/** One program of a document: a fence, together with the fences that continue it. */
export interface FenceProgram {
  /** Line of the first fence, from 1. */
  readonly line: number;
  /** From `prints=TEXT` behind the language: the program prints this and keeps running. Undefined: it ends alone. */
  readonly prints: string | undefined;
  /** Each statement stands on the line on which it stands in the document, so that errors point there. */
  readonly source: string;
}

export interface Fence {
  readonly language: string;
  /** The words behind the language. */
  readonly words: readonly string[];
  /** Line of the opening mark, from 1. */
  readonly line: number;
  readonly lines: readonly string[];
}

/** The fenced blocks of a Markdown document, also those indented in a list. */
export function fencesOf(markdown: string): Fence[] {
  const fences: Fence[] = [];
  let open: { readonly mark: string; readonly fence: Fence & { readonly lines: string[] } } | null = null;
  for (const [index, line] of markdown.split('\n').entries()) {
    const mark = /^\s*(`{3,}|~{3,})\s*(.*)$/.exec(line);
    if (open === null) {
      if (mark === null) continue;
      const [language = '', ...words] = (mark[2] ?? '').trim().split(/\s+/);
      open = { mark: mark[1] ?? '', fence: { language, words, line: index + 1, lines: [] } };
    } else if (mark !== null && mark[2] === '' && (mark[1] ?? '').startsWith(open.mark)) {
      fences.push(open.fence);
      open = null;
    } else {
      open.fence.lines.push(line);
    }
  }
  return fences;
}

/** The programs among the fences: `ts` begins one, `ts continue` goes on with the one before. */
export function programsOf(markdown: string): FenceProgram[] {
  const chains: Fence[][] = [];
  for (const fence of fencesOf(markdown)) {
    if (fence.language !== 'ts') continue;
    const last = chains.at(-1);
    if (fence.words.includes('continue') && last !== undefined) last.push(fence);
    else chains.push([fence]);
  }
  return chains.map((chain) => {
    const lines: string[] = [];
    for (const fence of chain) {
      while (lines.length < fence.line) lines.push('');
      lines.push(...fence.lines);
    }
    const prints = chain[0]?.words.find((word) => word.startsWith('prints='))?.slice('prints='.length);
    return { line: chain[0]?.line ?? 1, prints, source: `${lines.join('\n')}\n` };
  });
}
