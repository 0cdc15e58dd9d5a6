/**
 * The function, keeping its answers to the last `count` texts that it was asked for, so that a text that is used again and again is
 * read once. Longer texts than `length` are not kept, so that what is kept is bounded.
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
