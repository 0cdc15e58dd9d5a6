/** The most functions that measurements distinguish. Names come from code, and may all the same be many. */
const mostFunctions = 200;

/** The label of functions beyond the bound. */
export const otherFunctions = '_other';

/** Gives the label of a function: its name, for the first ones. */
export function functionLabels(): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= mostFunctions) return otherFunctions;
    known.add(name);
    return name;
  };
}
