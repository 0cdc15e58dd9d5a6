/**
 * The function with a cache of its results for the last `count` strings, so that a repeated string is parsed once. Strings longer
 * than `length` are not cached, so that the size of the cache is bounded.
 */
export function remembered<V>(compute: (text: string) => V, count: number, length = 1_000): (text: string) => V {
  const answers = new Map<string, { readonly value: V }>();
  return (text) => {
    const known = answers.get(text);
    const answer = known ?? { value: compute(text) };
    if (text.length > length) return answer.value;
    if (known !== undefined) answers.delete(text);
    else if (answers.size >= count) answers.delete(answers.keys().next().value ?? '');
    answers.set(text, answer);
    return answer.value;
  };
}

/**
 * A value that is created on first use. For slow and seldom needed values, such as regular expressions with Unicode
 * classes: created at import, they would delay the start of every process.
 */
export function madeOnce<V extends object>(make: () => V): () => V {
  let made: V | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
