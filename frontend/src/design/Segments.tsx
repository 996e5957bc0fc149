/** A choice among a few: a radio group that looks like one control. */

import { useId } from "react";

import styles from "./Segments.module.css";

interface SegmentsProps<Value extends string | number> {
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

export function Segments<Value extends string | number>(props: SegmentsProps<Value>) {
  const name = useId();
  return (
    <fieldset className={styles.segments}>
      <legend className="visually-hidden">{props.label}</legend>
      {props.options.map((option) => (
        <label key={option.value} className={styles.segment}>
          <input
            type="radio"
            name={name}
            checked={option.value === props.value}
            onChange={() => {
              props.onChange(option.value);
            }}
          />
          <span>{option.text}</span>
        </label>
      ))}
    </fieldset>
  );
}
