import { namesOf, type Value } from './values.js';

/** The items of a variable of the store, by name. Beside them it has some members of its own, which come first. */
export class VariableItems extends Map<string, Value> {
  /** `Keys`, `Values` and `Tuples` are lists in the order of names. */
  own(name: string): Value {
    switch (name) {
      case 'Keys':
        return namesOf(this);
      case 'Values':
        return namesOf(this).map((key) => itemValue(this.get(key)));
      case 'Tuples':
        return namesOf(this).map((key) => this.get(key));
      default:
        return undefined;
    }
  }
}

function itemValue(value: Value): Value {
  return typeof value === 'object' && value !== null && 'item' in value ? value.Value : value;
}
