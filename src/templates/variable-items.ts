import { namesOf, type Value } from './values.js';

/** The items of a variable of the store, by name. It also has predefined members, which take precedence over items. */
export class VariableItems extends Map<string, Value> {
  /** `Keys`, `Values` and `Tuples` are lists sorted by name. */
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
