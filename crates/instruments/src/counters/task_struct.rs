//! The fields of the kernel's `struct task_struct`.

use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::btf::{Btf, HasSize};

use crate::counters::error::CountersError;

/// Where the running kernel has each field of a task.
#[derive(Clone, Debug, Default)]
pub struct TaskStruct {
    /// Size of the struct, bytes.
    pub bytes: u64,
    /// Offset and name of each field, sorted.
    fields: Vec<(u64, String)>,
}

impl TaskStruct {
    /// Reads the kernel's own description of its types (BTF).
    ///
    /// # Errors
    /// It cannot be read.
    pub fn detect() -> Result<TaskStruct, CountersError> {
        let btf = Btf::from_vmlinux()
            .map_err(|error| CountersError::Kernel(format!("the kernel's type information ({error})")))?;
        let missing = || CountersError::Kernel("the type task_struct".to_owned());
        let task: Struct<'_> = btf.type_by_name("task_struct").ok_or_else(missing)?;
        let mut all = TaskStruct { bytes: task.size() as u64, fields: Vec::new() };
        all.add(&btf, &task, 0, "");
        all.fields.sort();
        Ok(all)
    }

    /// Adds the fields of a struct and, as `outer.inner`, those of the structs in it, but not of structs in those.
    fn add(&mut self, btf: &Btf<'_>, composite: &Struct<'_>, base: u64, outer: &str) {
        for member in composite.iter() {
            let (MemberAttr::Normal { offset } | MemberAttr::BitField { offset, .. }) = member.attr;
            let Some(name) = member.name.and_then(|name| name.to_str()) else { continue };
            let at = base + u64::from(offset) / 8;
            self.fields.push((at, format!("{outer}{name}")));
            if outer.is_empty()
                && let Some(inner) = btf.type_by_id::<Struct<'_>>(member.ty)
            {
                self.add(btf, &inner, at, &format!("{name}."));
            }
        }
    }

    /// The offset of a field, bytes.
    ///
    /// # Errors
    /// There is no such field.
    pub(crate) fn offset_of(&self, name: &str) -> Result<u64, CountersError> {
        let found = self.fields.iter().find(|(_, field)| field == name);
        found.map(|(at, _)| *at).ok_or_else(|| CountersError::Kernel(format!("the field task_struct.{name}")))
    }

    /// The field at this offset, bytes; a field of a struct is `outer.inner`.
    pub fn field_at(&self, offset: u64) -> &str {
        let after = self.fields.partition_point(|(at, _)| *at <= offset);
        after.checked_sub(1).map_or("", |last| &self.fields[last].1)
    }
}

#[cfg(test)]
mod tests {
    use klatch_testing::{Need, needs};

    use super::*;

    #[test]
    fn the_running_kernel_describes_a_task() {
        needs!(Need::Bpf);
        let task = TaskStruct::detect().unwrap();
        assert!(task.bytes > 1_000, "{task:?}");
        let stack_pointer = if cfg!(target_arch = "aarch64") { "thread.cpu_context" } else { "thread.sp" };
        for field in ["se.vruntime", "comm", stack_pointer] {
            let offset = task.offset_of(field).unwrap();
            assert_eq!(task.field_at(offset), field);
        }
        let error = task.offset_of("soul").unwrap_err().to_string();
        assert!(error.contains("task_struct.soul"), "{error}");
    }

    #[test]
    fn a_field_reaches_to_the_next_one() {
        let fields = vec![
            (0, "thread_info".to_owned()),
            (0, "thread_info.flags".to_owned()),
            (24, "stack".to_owned()),
        ];
        let task = TaskStruct { bytes: 32, fields };
        assert_eq!(
            (task.field_at(8), task.field_at(24), task.field_at(31)),
            ("thread_info.flags", "stack", "stack")
        );
        assert_eq!(TaskStruct::default().field_at(0), "");
    }
}
