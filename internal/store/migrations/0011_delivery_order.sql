-- Claims read what is open in the order of the events and keep persons in order by themselves; nothing reads this index any more.
DROP INDEX delivery_order;
